"""Who calls, and whether it may: by its certificate, or by a token that the API server knows.

A certificate counts before a token. Which of a caller's names is listed is who it is from then on: sessions
and rates belong to that name. What a review said of a token is remembered for a short while, by a digest.
"""

import asyncio
import hashlib
import math
import ssl
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator, Mapping
from http import HTTPStatus
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from springtide.apps.simulation.rates import Rates
from springtide.apps.simulation.settings import Access
from springtide.base.clock import Calendar, Clock
from springtide.edge.cluster import ClusterFault
from springtide.edge.serving import Asked, Reply, Route

KNOWN_S: Final = 60.0
"""So long a token that was good is taken for good."""
UNKNOWN_S: Final = 10.0
"""So long one that was not is not asked about again."""
TOKENS_MAX: Final = 1024
"""About so many tokens it is remembered what was said of them."""
TOKEN_BYTES_MAX: Final = 16 << 10
REVIEWS_PER_S: Final = 20.0
REVIEWS_BURST: Final = 40
"""Reviews are the only thing that strangers can make us ask of the API server."""
BEARER: Final = "bearer "

NO_CERTIFICATE: Final = "Nobody knows who is calling. Show a client certificate of the authorities that the server trusts"
EXPIRED: Final = "The client certificate has expired. Connect anew with one that is good."
ALTERNATIVE: Final = ", or send a bearer token"


Review = Callable[[str], Awaitable[str]]
"""Asks whose a token is and returns the user, empty if it is nobody's; or raises ClusterFault."""


class Times(msgspec.Struct, frozen=True):
    """What tells the time."""

    clock: Clock
    calendar: Calendar


class Denial(msgspec.Struct, frozen=True, kw_only=True):
    """Why somebody may not call, and what that is in HTTP."""

    why: str
    status: int
    retry_s: float | None = None


class Tokens:
    """Whose tokens are, as far as it was asked lately."""

    def __init__(self, review: Review, clock: Clock) -> None:
        self._review = review
        self._clock = clock
        self._rates = Rates(per_s=REVIEWS_PER_S, burst=REVIEWS_BURST)
        self._known: OrderedDict[bytes, tuple[str, float]] = OrderedDict()
        self._asking: dict[bytes, asyncio.Future[str]] = {}

    async def user(self, token: str) -> str | Denial:
        """Return the user, empty if the token is nobody's."""
        key = hashlib.sha256(token.encode()).digest()
        known = self._known.get(key)
        if known is not None and known[1] > self._clock.monotonic_s():
            return known[0]
        if key not in self._asking:
            wait_s = self._rates.wait_s("", self._clock.monotonic_s())
            if wait_s:
                why = "Too many unknown tokens are being reviewed. Try again."
                return Denial(why=why, status=HTTPStatus.SERVICE_UNAVAILABLE, retry_s=wait_s)
        try:
            return await self._asked(key, token)
        except ClusterFault as fault:
            return Denial(why=str(fault), status=HTTPStatus.SERVICE_UNAVAILABLE, retry_s=1.0)

    async def _asked(self, key: bytes, token: str) -> str:
        """Ask once, however many callers wait for it."""
        asking = self._asking.get(key)
        if asking is None:
            asking = asyncio.ensure_future(self._review(token))
            self._asking[key] = asking
            asking.add_done_callback(lambda done: self._remember(key, done))
        return await asyncio.shield(asking)

    def _remember(self, key: bytes, done: asyncio.Future[str]) -> None:
        del self._asking[key]
        if done.cancelled() or done.exception() is not None:
            return
        user = done.result()
        lasts_s = KNOWN_S if user else UNKNOWN_S
        self._known[key] = user, self._clock.monotonic_s() + lasts_s
        self._known.move_to_end(key)
        if len(self._known) > TOKENS_MAX:
            self._known.popitem(last=False)


class Doorkeeper:
    """Lets callers in by their names, so often and no more."""

    def __init__(self, access: Access, times: Times, *, review: Review | None = None) -> None:
        clock = times.clock
        self._access = access
        self._clock = clock
        self._calendar = times.calendar
        self._tokens = None if review is None else Tokens(review, clock)
        self._rates = Rates(per_s=access.calls_per_s, burst=access.burst)

    async def __call__(self, route: Route, asked: Asked) -> str | Reply:
        """Return who calls, or what it is answered."""
        if route.endpoint.is_public:
            return ""
        client = await self._client(asked)
        if isinstance(client, Denial):
            return _told(route, client)
        wait_s = self._rates.wait_s(client, self._clock.monotonic_s())
        if wait_s:
            why = f"{client} calls too often: try again in {wait_s:.2f} s, or raise limits.callsPerSecond."
            return _told(
                route, Denial(why=why, status=HTTPStatus.TOO_MANY_REQUESTS, retry_s=wait_s)
            )
        return client

    async def _client(self, asked: Asked) -> str | Denial:
        names: list[str] = []
        if asked.peer:
            # It was good when the connection began, which may be long ago.
            if expired(asked.peer, self._calendar.unix_s()):
                return Denial(why=EXPIRED, status=HTTPStatus.UNAUTHORIZED)
            names = list(certified(asked.peer))
        elif self._tokens is not None and (token := _token(asked)):
            user = await self._tokens.user(token)
            if isinstance(user, Denial):
                return user
            if not user:
                return Denial(
                    why="The token is not one that the API server knows.",
                    status=HTTPStatus.UNAUTHORIZED,
                )
            names = [user]
        if not names:
            how = ALTERNATIVE if self._tokens is not None else ""
            return Denial(why=f"{NO_CERTIFICATE}{how}.", status=HTTPStatus.UNAUTHORIZED)
        listed = next((each for each in names if each in self._access.identities), None)
        if listed is None:
            why = f"{', '.join(names)} may not call; have one of these added to simulation.identities."
            return Denial(why=why, status=HTTPStatus.FORBIDDEN)
        return listed


def certified(peer: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names in a certificate that was verified: its common names, then its SANs."""
    for part in peer.get("subject", ()):
        yield from (value for key, value in part if key == "commonName")
    yield from (str(value) for _, value in peer.get("subjectAltName", ()))


def expired(peer: Mapping[str, Any], unix_s: float) -> bool:
    """Return whether a certificate that was verified has run out since."""
    return ssl.cert_time_to_seconds(peer["notAfter"]) <= unix_s


def _token(asked: Asked) -> str:
    header = asked.header("authorization")
    if header[: len(BEARER)].lower() != BEARER or len(header) > TOKEN_BYTES_MAX:
        return ""
    return header[len(BEARER) :].strip()


def _told(route: Route, denial: Denial) -> Reply:
    reply = route.refuse(denial.why, denial.status)
    headers = reply.headers
    if denial.status == HTTPStatus.UNAUTHORIZED:
        headers = (*headers, (b"www-authenticate", b"Bearer"))
    if denial.retry_s is not None:
        headers = (*headers, retry_after(denial.retry_s))
    return replace(reply, headers=headers)


def retry_after(seconds: float) -> tuple[bytes, bytes]:
    """Return the header that says when to try again, in whole seconds."""
    return b"retry-after", str(max(1, math.ceil(seconds))).encode()
