"""Numbers as calls of a server, which says which members there are and makes it so many.

An order carries a key of workload, generation and number: a server that remembers keys does nothing twice. A
call whose answer does not come may have had its effect, and so may one that ends with a fault of the server.
Redirects are not followed, so that no token goes anywhere else.
"""

import asyncio
import ssl
from collections.abc import Mapping
from http import HTTPStatus
from typing import Final
from urllib.parse import quote

import httpx2
import msgspec

from springtide.edge import http
from springtide.edge.executors.errors import ExecutorFault, NotDone, OutcomeUnknown, Unobservable
from springtide.edge.http.bearer import bearer
from springtide.edge.http.opening import ClosesClient, opened, words
from springtide.model.replicas.execution import Observation, ScaleOrder
from springtide.wire.errors import MalformedObject
from springtide.wire.observations import read_observation

ANSWER_BYTES_MAX: Final = 1 << 20
CONNECTIONS_MAX: Final = 2
KEY: Final = "Idempotency-Key"
_SUCCESS: Final = range(200, 300)
_REFUSED: Final = range(300, 500)
_MAYBE: Final = frozenset({HTTPStatus.REQUEST_TIMEOUT})


class Hook(msgspec.Struct, frozen=True, kw_only=True):
    """Where the server is and how it knows us; the file of the token is read anew for every call."""

    workload: str
    url: str
    observe_url: str
    timeout_s: float = 10.0
    token_file: str = ""
    headers: Mapping[str, str] = {}
    tls: ssl.SSLContext | None = None


class _Body(msgspec.Struct, frozen=True):
    workload: str
    generation: int
    desired: int
    current: int
    keep: tuple[int, ...]


class Webhook(ClosesClient):
    """One server, to be closed by leaving its block."""

    def __init__(self, hook: Hook) -> None:
        self._hook = hook
        limits = httpx2.Limits(max_connections=CONNECTIONS_MAX, max_keepalive_connections=0)
        headers = {"Accept": "application/json", **hook.headers}
        super().__init__(opened(headers, tls=hook.tls, limits=limits))

    async def observe(self) -> Observation:
        """Return what the server says there is."""
        url = self._hook.observe_url
        try:
            status, body = await self._sent("GET", url)
        except ExecutorFault as fault:
            raise Unobservable(str(fault)) from fault
        if status not in _SUCCESS:
            raise Unobservable(f"{url} answered with code {status}.")
        try:
            return read_observation(body)
        except MalformedObject as fault:
            raise Unobservable(f"What {url} answers cannot be read: {fault}") from fault

    async def scale(self, order: ScaleOrder) -> None:
        """Tell the server how many there are to be."""
        hook = self._hook
        body = _Body(hook.workload, order.generation, order.desired, order.current, order.keep)
        key = f"{quote(hook.workload, safe='')}/{order.generation}/{order.desired}"
        status, _ = await self._sent("POST", hook.url, body=msgspec.json.encode(body), key=key)
        if status in _SUCCESS:
            return
        what = f"{hook.url} answered with code {status}."
        if status in _REFUSED and status not in _MAYBE:
            raise NotDone(what)
        raise OutcomeUnknown(what)

    async def _sent(
        self, method: str, url: str, *, body: bytes | None = None, key: str = ""
    ) -> tuple[int, bytes]:
        try:
            headers = dict(bearer(self._hook.token_file))
        except http.Unusable as fault:
            raise NotDone(str(fault)) from fault
        if body is not None:
            headers |= {"Content-Type": "application/json", KEY: key}
        try:
            async with asyncio.timeout(self._hook.timeout_s):
                return await self._answered(method, url, headers, body)
        except TimeoutError as fault:
            took = f"{self._hook.timeout_s:g} s"
            raise OutcomeUnknown(f"{url} gave no whole answer within {took}.") from fault
        except (httpx2.ConnectError, httpx2.InvalidURL, httpx2.UnsupportedProtocol) as fault:
            raise NotDone(f"{url} cannot be reached: {words(fault)}.") from fault
        except (httpx2.RequestError, OSError) as fault:
            raise OutcomeUnknown(f"The connection to {url} broke: {words(fault)}.") from fault

    async def _answered(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None
    ) -> tuple[int, bytes]:
        async with self._client.stream(
            method, url, headers=dict(headers), content=body
        ) as response:
            kept = bytearray()
            async for part in response.aiter_bytes():
                kept += part
                if len(kept) > ANSWER_BYTES_MAX:
                    raise OutcomeUnknown(f"{url} answered more than {ANSWER_BYTES_MAX >> 20} MiB.")
            return response.status_code, bytes(kept)
