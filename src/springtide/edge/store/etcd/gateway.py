"""Calls to etcd's JSON gateway, at whichever endpoint answers.

One that cannot be connected to is left for the next; a call that was sent is not sent again, as nobody
knows whether it was done. A token that is not taken is renewed once, and so are certificates that changed.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Final, TypeVar

import httpx2

from springtide.edge.http import client_context
from springtide.edge.http.opening import opened, words
from springtide.edge.store.errors import StoreFault, Unreachable
from springtide.edge.store.etcd import refusals
from springtide.edge.store.etcd.access import EtcdAccess
from springtide.edge.store.etcd.credentials import Credentials
from springtide.edge.store.etcd.shapes import Fields, Token, decoded, encoded

T = TypeVar("T")

ANSWER_BYTES_MAX: Final = 64 << 20
CONNECTIONS_MAX: Final = 8
KEPT_S: Final = 60.0
_OK: Final = 200
# The time for connecting is that of each try, the time for all of it that of the call.
_NOT_SENT: Final = (httpx2.ConnectError, httpx2.ConnectTimeout)


class Gateway:
    """The gateway of one etcd, to be closed at the end."""

    def __init__(self, access: EtcdAccess) -> None:
        self._access = access
        self._credentials = Credentials(access)
        self._at = 0
        self._client = self._made()
        self.has_user = bool(access.user)
        self.asked = 0

    async def close(self) -> None:
        """Close all connections."""
        await self._client.aclose()

    async def ask(self, path: str, fields: Fields, kind: type[T]) -> T:
        """Return what is answered, or raise StoreFault."""
        try:
            return await self._asked(path, fields, kind)
        except refusals.Unknown:
            await self._show()
            return await self._asked(path, fields, kind)

    @asynccontextmanager
    async def stream(self, path: str, request: bytes) -> AsyncIterator[AsyncGenerator[bytes]]:
        """Ask for what comes bit by bit as long as the block."""
        async with self._posted(path, request) as response:
            parts = _parts(response)
            try:
                yield parts
            finally:
                await parts.aclose()

    async def _asked(self, path: str, fields: Fields, kind: type[T]) -> T:
        seconds, request = self._access.timeout_s, encoded(fields)
        try:
            async with asyncio.timeout(seconds), self._posted(path, request) as response:
                return decoded(await _whole(response), kind, path)
        except TimeoutError as fault:
            self._turn()
            raise Unreachable(f"etcd gave no whole answer within {seconds:g} s.") from fault

    async def _show(self) -> None:
        """Show the password, and keep what is to be shown instead of it."""
        before = self._credentials.token
        async with self._credentials.renewing:
            if self._credentials.token != before:
                return
            shown = self._credentials.shown()
            self._credentials.token = ""
            answer = await self._asked("/v3/auth/authenticate", shown, Token)
            self._credentials.token = answer.token

    @asynccontextmanager
    async def _posted(self, path: str, request: bytes) -> AsyncIterator[httpx2.Response]:
        """Post to the first endpoint that can be connected to, beginning with the last good one."""
        for tries_left in reversed(range(len(self._access.endpoints))):
            try:
                async with self._sent(path, request) as response:
                    yield response
                    return
            except _NOT_SENT as fault:
                await self._missed()
                if not tries_left:
                    raise self._unreachable(fault) from fault
            except (httpx2.RequestError, httpx2.InvalidURL, OSError) as fault:
                await self._missed()
                raise self._unreachable(fault) from fault

    @asynccontextmanager
    async def _sent(self, path: str, request: bytes) -> AsyncIterator[httpx2.Response]:
        self.asked += 1
        url = self._access.endpoints[self._at].rstrip("/") + path
        token = self._credentials.token
        headers = {"Authorization": token} if token else {}
        name = self._access.tls.server_name if self._access.tls else ""
        async with self._client.stream(
            "POST",
            url,
            content=request,
            headers=headers,
            extensions={"sni_hostname": name} if name else {},
        ) as response:
            if response.status_code != _OK:
                raise self._refused(response.status_code, await _whole(response), path)
            yield response

    def _refused(self, status: int, body: bytes, path: str) -> StoreFault:
        fault = refusals.fault(status, body, path, has_user=self.has_user)
        if isinstance(fault, Unreachable):
            self._turn()
        return fault

    async def _missed(self) -> None:
        """Turn to the next endpoint, with new certificates if there are any."""
        self._turn()
        if self._credentials.are_new():
            before, self._client = self._client, self._made()
            await before.aclose()

    def _turn(self) -> None:
        self._at = (self._at + 1) % len(self._access.endpoints)

    def _unreachable(self, fault: BaseException) -> Unreachable:
        where = ", ".join(self._access.endpoints)
        return Unreachable(f"etcd cannot be reached at {where}: {words(fault)}.")

    def _made(self) -> httpx2.AsyncClient:
        tls = self._access.tls
        return opened(
            {"Content-Type": "application/json"},
            tls=client_context(tls) if tls else None,
            limits=httpx2.Limits(
                max_connections=CONNECTIONS_MAX,
                max_keepalive_connections=CONNECTIONS_MAX,
                keepalive_expiry=KEPT_S,
            ),
            timeout=httpx2.Timeout(None, connect=self._access.connect_s),
        )


async def _whole(response: httpx2.Response) -> bytes:
    body = bytearray()
    async for part in response.aiter_bytes():
        body += part
        if len(body) > ANSWER_BYTES_MAX:
            raise Unreachable(f"etcd answered more than {ANSWER_BYTES_MAX >> 20} MiB.")
    return bytes(body)


async def _parts(response: httpx2.Response) -> AsyncGenerator[bytes]:
    async for part in response.aiter_bytes():
        yield part
