"""Members of a stateful service in virtual time: controllers on one site in memory, and what they are asked.

`Load` answers every policy as Prometheus would: the total that a test sets, how many members report, and how
old the oldest of them is.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from decimal import Decimal
from typing import Final, Never

import msgspec

from springtide.edge.store import Deliver, MemorySite, MemoryStore, StatusRead, StoreTold
from springtide.model.replicas.answer import Answer, Answered, Sample, Series, Unreachable
from springtide.model.replicas.policy import Aggregation, Operator, Policy
from springtide.model.replicas.rules import Limits, Schedule
from springtide.model.replicas.settings import (
    LabelSettings,
    PullSettings,
    ReplicaSettings,
    WindowSettings,
)
from springtide.model.replicas.status import Status
from springtide.model.replicas.workload import Workload
from springtide.replicas import Identity, ReplicaController
from tests.virtual import LoopClock

EPOCH_S: Final = 1_700_000_000.0
ROOMS: Final = Policy(
    name="rooms",
    aggregation=Aggregation(operator=Operator.SUM),
    up_per_replica=100,
    down_per_replica=80,
)
SETTINGS: Final = ReplicaSettings(
    workload=Workload(name="chat", kind="StatefulSet", api_version="apps/v1"),
    is_enabled=True,
    limits=Limits(replicas_min=1, replicas_max=20),
    schedule=Schedule(start_delay_ms=60_000, period_ms=60_000, scaling_delay_ms=60_000),
    windows=WindowSettings(up_ms=60_000, down_ms=60_000),
    pull=PullSettings(interval_ms=20_000, retry_ms=5_000),
    labels=LabelSettings(init_wait_ms=60_000),
    custom=(ROOMS,),
    cancel_after_ms=60_000,
)


class LoopCalendar:
    """The loop's time as a date; a member's own may be wrong by some seconds."""

    def __init__(self, offset_s: float = 0.0) -> None:
        self.offset_s = offset_s

    def unix_s(self) -> float:
        """Return the seconds since 1970."""
        return EPOCH_S + asyncio.get_running_loop().time() + self.offset_s


class Load:
    """What Prometheus says."""

    def __init__(self, total: float | None = 0) -> None:
        self.total = total
        self.reporting = 0
        self.age_s = 1.0
        self.asked = 0
        self.answer_with: Answer | None = None

    async def answer(self, text: str) -> Answer:
        """Return the rows of a policy; the reporting members are those that the query can see."""
        self.asked += 1
        await asyncio.sleep(0.01)
        if self.answer_with is not None:
            return self.answer_with
        if self.total is None:
            return Unreachable("nobody is there")
        assert text
        return Answered(
            series=(
                _row("v", self.total),
                _row("n", self.reporting),
                _row("age", self.age_s),
            )
        )


def _row(name: str, value: float) -> Series:
    at_ms = int(LoopCalendar().unix_s() * 1000)
    return Series({"hpa_q": name}, (Sample(at_ms, Decimal(str(value))),))


class Lines:
    """What was logged."""

    def __init__(self) -> None:
        self.told: list[dict[str, object]] = []

    def __call__(self, event: str, *, is_fault: bool = False, **facts: object) -> None:
        """Keep it."""
        self.told.append({"event": event, "is_fault": is_fault, **facts})

    def named(self, event: str) -> list[dict[str, object]]:
        """Return all of one name."""
        return [each for each in self.told if each["event"] == event]


class Told:
    """What a listener was told."""

    def __init__(self) -> None:
        self.all: list[tuple[str, ...]] = []

    def __call__(self, *arguments: str) -> None:
        """Keep it."""
        self.all.append(arguments)


class Breaking(MemoryStore):
    """A store with a bug, when a test wants one."""

    follow_breaks = False

    async def follow(self, deliver: Deliver) -> Never:
        """Tell what there is, or break."""

        def told(what: StoreTold) -> None:
            if self.follow_breaks:
                raise RuntimeError("a bug")
            deliver(what)

        await super().follow(told)


class One:
    """One member: its controller, its own way to the store, and what it holds."""

    def __init__(
        self, fleet: "Fleet", index: int | None, *, name: str = "", offset_s: float = 0.0
    ) -> None:
        self.name = name or f"chat-{(index or 1) - 1}"
        self.calendar = LoopCalendar(offset_s)
        self.store = Breaking(fleet.site, replicas=fleet.replicas)
        self.holds_state = True
        self.is_loaded = True
        self.lines = Lines()
        self.told: list[object] = []
        self.controller = ReplicaController(
            fleet.settings,
            Identity(name=self.name, id=0, index=index, service="chat"),
            store=self.store,
            clock=LoopClock(),
            calendar=self.calendar,
            log=self.lines,
            metrics=fleet.load,
            drawn_permille=lambda: 500,
        )
        self.controller.set_ready_check(lambda: self.is_loaded)
        self.controller.set_stateful_check(lambda: self.holds_state)
        for kind in ("target_changed", "ready_changed", "round", "leader", "member_lost"):
            self.controller.subscribe(kind, self.told.append)

    @property
    def labels(self) -> tuple[bool, bool]:
        """Return Target and Ready."""
        found = self.controller.snapshot()
        return found.is_target, found.is_ready

    async def kill(self) -> None:
        """End it as a SIGKILL does: nothing is said to anybody."""
        running = self.controller._running  # noqa: SLF001 - nothing public kills
        assert running is not None
        running.cancel()
        await asyncio.wait([running])


class Fleet:
    """Members, and the site where they meet."""

    def __init__(self, settings: ReplicaSettings = SETTINGS, *, load: float | None = 0) -> None:
        self.settings = settings
        self.site = MemorySite(LoopClock())
        self.load = Load(load)
        self.replicas: int | None = None
        self.members: dict[str, One] = {}

    async def add(self, index: int | None, *, name: str = "", offset_s: float = 0.0) -> One:
        """Start a member; all that are started report."""
        one = One(self, index, name=name, offset_s=offset_s)
        self.members[one.name] = one
        self.load.reporting = len(self.members)
        await one.controller.start()
        return one

    @property
    def leaders(self) -> list[str]:
        """Return who leads."""
        return [each.name for each in self.members.values() if each.controller.snapshot().is_leader]

    async def close(self) -> None:
        """End everybody."""
        for each in self.members.values():
            await each.controller.close()


@asynccontextmanager
async def fleet(
    count: int, settings: ReplicaSettings = SETTINGS, *, load: float | None = 0
) -> AsyncIterator[Fleet]:
    """Members 1 to `count`, started at the same time."""
    found = Fleet(settings, load=load)
    for index in range(1, count + 1):
        await found.add(index)
    try:
        yield found
    finally:
        await found.close()


def with_policies(*policies: Policy, settings: ReplicaSettings = SETTINGS) -> ReplicaSettings:
    """Return settings with these policies alone."""
    return msgspec.structs.replace(settings, custom=policies)


def status_of(found: Fleet) -> Status | None:
    """Return the status that the site holds."""
    return found.site.status.status if isinstance(found.site.status, StatusRead) else None


async def until(found: Fleet, expect: int, *, limit_s: int = 600) -> None:
    """Wait until so many replicas are expected."""
    for _ in range(limit_s):
        status = status_of(found)
        if status is not None and status.expect == expect:
            return
        await asyncio.sleep(1)
    raise AssertionError(f"never {expect}: {found.site.status}")


async def seconds_until(holds: Callable[[], bool], *, limit_s: float = 600.0) -> float:
    """Wait until something holds, and return for how long."""
    begun_s = asyncio.get_running_loop().time()
    for _ in range(int(limit_s * 10)):
        if holds():
            return asyncio.get_running_loop().time() - begun_s
        await asyncio.sleep(0.1)
    raise AssertionError(f"it did not come within {limit_s:g} s")
