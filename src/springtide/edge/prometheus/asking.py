"""Asks Prometheus, so many queries at a time, each within its time.

A query that gets no turn soon is given up: whoever waits for it is better served by a quick no. Redirects
are not followed, so that no token goes anywhere else.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Final

import httpx2
import msgspec

from springtide.edge import http
from springtide.edge.http.bearer import bearer
from springtide.edge.http.opening import ClosesClient, opened, words
from springtide.edge.prometheus.errors import (
    Crowded,
    PrometheusFault,
    TimedOut,
    TooLarge,
    Unreachable,
    Unusable,
)
from springtide.edge.prometheus.vector import Vector, read_vector
from springtide.model.replicas.answer import Answer
from springtide.model.replicas.answer import Unreachable as Unheard
from springtide.wire.prometheus import read_answer

ANSWER_BYTES_MAX: Final = 64 << 20
QUERIES_MAX: Final = 20
TURN_S_MAX: Final = 2.0
MARGIN_S: Final = 1.0
"""So much earlier than we do is Prometheus told to give up."""
_PATH: Final = "/api/v1/query"


class Access(msgspec.Struct, frozen=True, kw_only=True):
    """Where it is and how it knows us; the file of the token is read anew for every query."""

    url: str
    timeout_s: float = 3.0
    token_file: str = ""
    headers: Mapping[str, str] = {}
    tls: ssl.SSLContext | None = None
    queries_max: int = QUERIES_MAX


class Prometheus(ClosesClient):
    """One Prometheus, to be closed by leaving its block."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._turns = asyncio.Semaphore(access.queries_max)
        self._url = access.url.rstrip("/") + _PATH
        self.asked = 0
        limits = httpx2.Limits(
            max_connections=access.queries_max, max_keepalive_connections=access.queries_max
        )
        super().__init__(opened(access.headers, tls=access.tls, limits=limits))

    async def query(self, text: str, *, unix_s: float | None = None) -> Vector:
        """Return what a query comes to, now or at some time; or raise PrometheusFault."""
        status, body = await self._asked(text, unix_s)
        return read_vector(body, status=status)

    async def answer(self, text: str) -> Answer:
        """Return what a query comes to now, exactly, or why there is no answer; it never raises."""
        try:
            status, body = await self._asked(text, None)
        except PrometheusFault as fault:
            return Unheard(str(fault).rstrip("."))
        return read_answer(status, body)

    async def _asked(self, text: str, unix_s: float | None) -> tuple[int, bytes]:
        form = {"query": text, "timeout": f"{max(0.5, self._access.timeout_s - MARGIN_S):g}s"}
        if unix_s is not None:
            form["time"] = f"{unix_s:.3f}"
        try:
            credentials = bearer(self._access.token_file)
        except http.Unusable as fault:
            raise Unusable(str(fault)) from fault
        async with self._turn():
            try:
                async with asyncio.timeout(self._access.timeout_s):
                    return await self._posted(form, credentials)
            except TimeoutError as fault:
                raise TimedOut(
                    f"Prometheus gave no whole answer within {self._access.timeout_s:g} s."
                ) from fault
            except (httpx2.RequestError, httpx2.InvalidURL, OSError) as fault:
                raise Unreachable(f"Prometheus cannot be reached: {words(fault)}.") from fault

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(TURN_S_MAX):
                await self._turns.acquire()
        except TimeoutError as fault:
            raise Crowded(f"{self._access.queries_max} queries are under way already.") from fault
        try:
            yield
        finally:
            self._turns.release()

    async def _posted(
        self, form: Mapping[str, str], credentials: Mapping[str, str]
    ) -> tuple[int, bytes]:
        self.asked += 1
        async with self._client.stream(
            "POST", self._url, data=dict(form), headers=dict(credentials)
        ) as response:
            body = bytearray()
            async for part in response.aiter_bytes():
                body += part
                if len(body) > ANSWER_BYTES_MAX:
                    raise TooLarge(
                        f"Prometheus answered more than {ANSWER_BYTES_MAX >> 20} MiB. Ask for less."
                    )
            return response.status_code, bytes(body)
