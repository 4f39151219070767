"""How requests are answered: within their time, counted, and told once, whoever answers them.

What is told is who asked, about which pod and how many nodes, what came of it and how long it took. What
pods and nodes say of themselves is never told.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

import msgspec
from msgspec.structs import replace

from springtide.apps.sessions import Reply as Answer
from springtide.apps.sessions import Tally
from springtide.apps.simulation import endpoints
from springtide.apps.simulation.access import retry_after
from springtide.apps.simulation.figures import Figures
from springtide.apps.simulation.lanes import RETRY_S, LaneFull
from springtide.apps.simulation.refusing import Count, in_problem, sent
from springtide.apps.simulation.settings import Limits
from springtide.base.clock import Clock
from springtide.base.durations import SECOND_NS, MalformedDuration, parse_duration_ns
from springtide.base.errors import SpringtideError
from springtide.edge.lines import Log
from springtide.edge.serving import Asked, Reply, Route
from springtide.edge.serving import Limits as BodyLimits
from springtide.edge.serving.probes import Check
from springtide.wire.openapi import Endpoint

Work = Callable[[Asked], Awaitable[Answer]]
Word = Callable[[str, int, Count], Reply]
"""Words a refusal from what is wrong and the status that it means, and counts it."""

NOTHING: Final = Tally()
SMALL_BODY_BYTES: Final = 1 << 16
"""Calls that say no more than which change they are."""


class InvalidHead(SpringtideError):
    """What is said beside the body makes no sense."""


class Readiness(msgspec.Struct, frozen=True, kw_only=True):
    """Whether everything is known that answers depend on: calls wait for `whole`, probes see the checks."""

    whole: asyncio.Event
    checks: Callable[[], tuple[Check, ...]]


class Answering:
    """Makes routes of what answers."""

    def __init__(
        self, limits: Limits, clock: Clock, *, readiness: Readiness, figures: Figures, log: Log
    ) -> None:
        self._limits = limits
        self._clock = clock
        self._readiness = readiness
        self._figures = figures
        self._log = log

    def route(
        self,
        endpoint: Endpoint,
        work: Work,
        word: Word = in_problem,
        *,
        is_small: bool = False,
    ) -> Route:
        """Return the route of a call."""

        async def answer(asked: Asked) -> Reply:
            return await self._answered(endpoint, asked, work, word)

        def refuse(why: str, status: int) -> Reply:
            return word(why, status, lambda outcome: self._refused(endpoint, outcome, why))

        size = SMALL_BODY_BYTES if is_small else self._limits.body_bytes
        limits = BodyLimits(size_max=size, time_s_max=self._limits.body_s)
        return Route(
            endpoint=endpoint,
            answer=answer,
            limits=None if endpoint.body is None else limits,
            refuse=refuse,
            crowded=lambda why, _: _later(refuse(why, 429)),
        )

    async def _answered(self, endpoint: Endpoint, asked: Asked, work: Work, word: Word) -> Reply:
        begun_s = self._clock.monotonic_s()

        def tell(outcome: str, tally: Tally = NOTHING) -> None:
            took_s = self._clock.monotonic_s() - begun_s
            self._tell(endpoint, asked, outcome, tally, took_s)

        try:
            timeout_s = self._timeout_s(asked)
        except InvalidHead as fault:
            return word(str(fault), 400, tell)
        try:
            async with asyncio.timeout(timeout_s):
                await self._readiness.whole.wait()
                made = await work(asked)
        except LaneFull as fault:
            return _later(word(str(fault), 429, tell))
        except TimeoutError:
            why = f"the answer took longer than {timeout_s:g} s; ask about less, or wait longer."
            return word(why, 504, tell)
        tell(made.outcome, made.tally)
        return sent(made)

    def _timeout_s(self, asked: Asked) -> float:
        """Return how long the call may take: as long as we let it, or less if the caller says so."""
        text = asked.header(endpoints.TIMEOUT)
        if not text:
            return self._limits.request_s
        try:
            wanted_s = float(text) if text.isdecimal() else parse_duration_ns(text) / SECOND_NS
        except MalformedDuration as fault:
            raise InvalidHead(f"X-Request-Timeout: {fault}; write it like 500ms or 3s.") from fault
        if wanted_s <= 0:
            raise InvalidHead(f"X-Request-Timeout: {text} is no time at all; write more.")
        return min(wanted_s, self._limits.request_s)

    def _tell(
        self, endpoint: Endpoint, asked: Asked, outcome: str, tally: Tally, took_s: float
    ) -> None:
        is_stateless = endpoint is endpoints.FILTER
        self._figures.answered(
            endpoint.path, outcome, took_s=took_s, tally=tally, is_stateless=is_stateless
        )
        self._log(
            "simulated",
            client=asked.client,
            method=endpoint.method,
            endpoint=endpoint.path,
            session=asked.values.get("id", ""),
            pod=tally.pod,
            pods=tally.pods,
            nodes=tally.nodes,
            outcome=outcome,
            took_ms=round(took_s * 1e3, 3),
        )

    def _refused(self, endpoint: Endpoint, outcome: str, why: str) -> None:
        self._figures.refused(endpoint.path, outcome)
        self._log(
            "refused", method=endpoint.method, endpoint=endpoint.path, outcome=outcome, message=why
        )

    def page(self, endpoint: Endpoint, answer: Callable[[Asked], Awaitable[Reply]]) -> Route:
        """Return the route of a page, which is neither timed nor told."""

        def refuse(why: str, status: int) -> Reply:
            return in_problem(why, status, lambda outcome: self._refused(endpoint, outcome, why))

        return Route(endpoint=endpoint, answer=answer, refuse=refuse)


def _later(reply: Reply) -> Reply:
    return replace(reply, headers=(*reply.headers, retry_after(RETRY_S)))
