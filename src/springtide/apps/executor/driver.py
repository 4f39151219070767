"""Feeds the machine: what is wanted, what there is, what came of orders; and performs what it asks.

One thing after the other, so that an order is never given on what was seen before the last one. Told to
stop, it finishes the order under way and gives no other; members are left as they are.
"""

import asyncio
from collections import deque
from contextlib import suppress
from typing import Final, assert_never

import msgspec

from springtide.apps.executor.applied import Applied
from springtide.apps.executor.figures import Figures
from springtide.apps.executor.performing import Performing
from springtide.apps.executor.wishes import Wishes
from springtide.edge.files import Unwritable
from springtide.edge.lines import Log
from springtide.engine.replicas.executing import (
    Command,
    Event,
    Execution,
    ExecutionRules,
    Failed,
    Kill,
    Observe,
    Observed,
    Order,
    Phase,
    Refuse,
    Remember,
    ScaleTo,
    Start,
    StopGracefully,
    Tick,
    TimedOut,
    Unobserved,
    Wanted,
    step,
)

EVENTS_MAX: Final = 1000
"""No wish leads to more events before the next one."""
ORDERS_KEPT: Final = 20
_EVENTS: Final = {
    "Start": "start", "StopGracefully": "stop", "Kill": "forced_kill", "ScaleTo": "scale",
}  # fmt: skip


class Pace(msgspec.Struct, frozen=True, kw_only=True):
    """How often it is asked what is wanted, and how often looked while something changes."""

    interval_s: float = 5.0
    look_s: float = 1.0


class Given(msgspec.Struct, frozen=True, kw_only=True):
    """An order that was given, why, and what came of it."""

    order: str
    number: int
    why: str
    outcome: str


class Driver:
    """Drives one executor; `state`, `orders` and `blind` are what it knows and has done."""

    def __init__(
        self,
        rules: ExecutionRules,
        performing: Performing,
        wishes: Wishes,
        *,
        applied: Applied,
        pace: Pace,
        figures: Figures,
        log: Log,
    ) -> None:
        self._rules = rules
        self._performing = performing
        self._wishes = wishes
        self._applied = applied
        self._pace = pace
        self._figures = figures
        self._log = log
        self._stop = asyncio.Event()
        self._refusal = ""
        self.state = Execution(generation=applied.read())
        self.orders: deque[Given] = deque(maxlen=ORDERS_KEPT)
        self.blind = "nothing has been observed yet"

    def stop(self) -> None:
        """Give no more orders."""
        self._stop.set()

    async def run(self) -> None:
        """Drive until told to stop."""
        loop = asyncio.get_running_loop()
        ask_at_s = loop.time()
        while not self._stop.is_set():
            if loop.time() >= ask_at_s:
                ask_at_s = loop.time() + self._pace.interval_s
                wish = await self._wishes.wish()
                now_ms = self._performing.now_ms()
                await self.tell(Wanted(wish=wish, now_ms=now_ms, cause="wish"))
            else:
                await self.tell(Tick(now_ms=self._performing.now_ms(), cause="clock"))
            is_calm = self.state.phase is Phase.STEADY and not self.blind
            wait_s = ask_at_s - loop.time()
            await self._pause(wait_s if is_calm else min(self._pace.look_s, wait_s))

    async def tell(self, event: Event) -> None:
        """Fold an event and all that come of it."""
        events = deque([event])
        for _ in range(EVENTS_MAX):
            if not events or self._stop.is_set():
                return
            before = self.state.why
            self.state, commands = step(self._rules, self.state, events.popleft())
            if self.state.why != before:
                self._log("decision", phase=self.state.phase, message=self.state.why)
            for command in commands:
                found = await self._performed(command)
                events += () if found is None else (found,)
            self._show()
        raise AssertionError(f"more than {EVENTS_MAX} events came of one")

    async def _performed(self, command: Command) -> Event | None:
        match command:
            case Observe():
                return await self._observed()
            case Start() | StopGracefully() | Kill() | ScaleTo():
                return None if self._stop.is_set() else await self._ordered(command)
            case Remember(generation=generation):
                self._remember(generation)
            case Refuse(why=why):
                self._refused(why)
            case _:
                assert_never(command)
        return None

    async def _observed(self) -> Observed | Unobserved:
        found = await self._performing.observe()
        self.blind = found.words if isinstance(found, Unobserved) else ""
        return found

    async def _ordered(self, order: Order) -> Event:
        kind = type(order).__name__
        number = order.order.desired if isinstance(order, ScaleTo) else order.index
        self._log(_EVENTS[kind], number=number, message=order.why)
        found = await self._performing.order(order)
        if isinstance(order, Kill) and not isinstance(found, Failed):
            self._figures.kills.inc()
        outcome = "done"
        if isinstance(found, TimedOut | Failed):
            is_unknown = isinstance(found, TimedOut)
            outcome = ("unknown: " if is_unknown else "failed: ") + found.words
            if is_unknown:
                self._figures.unknown.inc()
            name = "outcome_unknown" if is_unknown else "order_failed"
            self._log(name, is_fault=True, order=kind, number=number, message=found.words)
        self.orders.append(Given(order=kind, number=number, why=order.why, outcome=outcome))
        return found

    def _refused(self, why: str) -> None:
        """Count it each time, and tell it once."""
        self._figures.refused.inc()
        if why != self._refusal:
            self._log("refused", is_fault=True, message=why)
        self._refusal = why

    def _remember(self, generation: int) -> None:
        try:
            self._applied.write(generation)
        except Unwritable as fault:
            self._log("unremembered", is_fault=True, message=str(fault))

    def _show(self) -> None:
        nodes = self.state.nodes
        observed = None if self.blind or nodes is None else len(nodes)
        self._figures.show(desired=self.state.desired, observed=observed)

    async def _pause(self, wait_s: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, wait_s)):
                await self._stop.wait()
