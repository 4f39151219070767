"""Posting to one server, over connections that are kept, each call within its time.

The time bounds a call as a whole: connecting, sending, waiting and reading. Redirects are answers
like any other; only 200 is success. A call whose connection broke is made once more, because a server
may close a kept connection at any moment.

Calls are made from code without an event loop; an exchange has its own, and at most so many calls on
their way at once.
"""

import asyncio
import ssl
from collections.abc import Sequence
from types import TracebackType
from typing import Final, Self

import httpx2
import msgspec

from springtide.edge.http.errors import (
    HttpFault,
    Refused,
    TimedOut,
    TooLarge,
    Unreachable,
    Unusable,
)
from springtide.edge.http.opening import opened, words

CONCURRENCY_MAX: Final = 4
RESPONSE_BYTES_MAX: Final = 128 << 20
_HEADERS: Final = {
    "Content-Type": "application/json",
    "Accept-Encoding": "gzip",
}
_PROXIES: Final = "HTTP_PROXY, HTTPS_PROXY or ALL_PROXY"
_OK: Final = 200
_BROKEN: Final = (httpx2.ReadError, httpx2.WriteError, httpx2.RemoteProtocolError)


class Server(msgspec.Struct, frozen=True, kw_only=True):
    """Where to post. `name` is the name that its certificate must have, if not the address's."""

    url: str
    tls: ssl.SSLContext | None = None
    name: str = ""
    response_bytes_max: int = RESPONSE_BYTES_MAX


class Exchange:
    """The calls of one server, to be closed at the end.

    Raises Unusable where the environment names a proxy that cannot be one.
    """

    def __init__(self, server: Server) -> None:
        self._server = server
        self._client = _client(server)
        self._runner = asyncio.Runner()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self._runner.run(self._client.aclose())
        self._runner.close()

    def post_all(self, bodies: Sequence[bytes], *, timeout_s: float) -> list[bytes | HttpFault]:
        """Post every body, at most CONCURRENCY_MAX at once, and return what came of each."""
        return self._runner.run(self._posted_all(bodies, timeout_s))

    async def _posted_all(
        self, bodies: Sequence[bytes], timeout_s: float
    ) -> list[bytes | HttpFault]:
        turns = asyncio.Semaphore(CONCURRENCY_MAX)
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._outcome(body, timeout_s, turns)) for body in bodies]
        return [task.result() for task in tasks]

    async def _outcome(
        self, body: bytes, timeout_s: float, turns: asyncio.Semaphore
    ) -> bytes | HttpFault:
        async with turns:
            try:
                return await self._post(body, timeout_s)
            except HttpFault as fault:
                return fault

    async def _post(self, body: bytes, timeout_s: float) -> bytes:
        url = self._server.url
        try:
            async with asyncio.timeout(timeout_s):
                try:
                    return await self._posted(body)
                except _BROKEN:
                    return await self._posted(body)
        except TimeoutError as fault:
            raise TimedOut(url, timeout_s) from fault
        except (httpx2.RequestError, httpx2.InvalidURL, OSError) as fault:
            # A refused client certificate arrives as a bare error of the TLS layer.
            raise Unreachable(url, words(fault)) from fault

    async def _posted(self, body: bytes) -> bytes:
        url = self._server.url
        extensions = {"sni_hostname": self._server.name} if self._server.name else {}
        async with self._client.stream(
            "POST", url, content=body, extensions=extensions
        ) as response:
            if response.status_code != _OK:
                raise Refused(url, response.status_code)
            return await self._read(response)

    async def _read(self, response: httpx2.Response) -> bytes:
        limit = self._server.response_bytes_max
        parts: list[bytes] = []
        size = 0
        async for part in response.aiter_bytes():
            size += len(part)
            if size > limit:
                raise TooLarge(self._server.url, limit >> 20)
            parts.append(part)
        return b"".join(parts)


def _client(server: Server) -> httpx2.AsyncClient:
    limits = httpx2.Limits(
        max_connections=CONCURRENCY_MAX, max_keepalive_connections=CONCURRENCY_MAX
    )
    try:
        return opened(_HEADERS, tls=server.tls, limits=limits)
    except (ValueError, ImportError, httpx2.InvalidURL) as fault:
        told = str(fault).rstrip(".")
        why = f"The proxy that the environment names cannot be used: {told}. Correct {_PROXIES}."
        raise Unusable("", why) from fault
