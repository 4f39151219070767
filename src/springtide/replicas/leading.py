"""What a leader does: it has all metrics pulled, evaluates them at every interval, and writes the status.

Everybody else keeps the same machine, so that each member judges by itself whether a status may be
followed; only a leader's decisions are evaluated and written.
"""

import asyncio
from typing import Final, Never

from msgspec.structs import replace

from springtide.edge.store import StatusDamaged, StatusRead
from springtide.engine.replicas import deciding, round_messages
from springtide.engine.replicas.deciding import Deciding, Event, Ordered, Rulebook
from springtide.engine.replicas.leadership import Pulled, Stage
from springtide.engine.replicas.round_messages import Begun
from springtide.engine.replicas.setup import (
    course,
    first_windows,
    policy_windows_after_reload,
    windows_after_reload,
)
from springtide.model.replicas.settings import ReplicaSettings
from springtide.model.replicas.status import Status
from springtide.replicas.context import Context
from springtide.replicas.electing import Electing
from springtide.replicas.evaluating import Evaluating
from springtide.replicas.occurrences import LeaderChanged
from springtide.replicas.performing import Performing
from springtide.replicas.pulling import Pulls

WAIT_S_MAX: Final = 1.0
ORDER_LOST: Final = "The order of {ordered} replicas ended here with the lead of this member. Ask who leads for it again."
COMMANDS_MAX: Final = 1024
"""So many steps at most follow from one evaluation: providers, writes and reads."""


class Leading:
    """The decision of this member, whether it leads or follows."""

    def __init__(
        self, context: Context, pulls: Pulls, *, performing: Performing, evaluating: Evaluating
    ) -> None:
        self._context = context
        self._pulls = pulls
        self._performing = performing
        self._evaluating = evaluating
        self._has_begun = False
        self._woken = asyncio.Event()
        self.has_led = False
        self.electing: Electing | None = None
        self.next_evaluation_ms: int | None = None
        windows = first_windows(context.settings, now_ms=context.times.steady_ms(), expect=1)
        self.state = Deciding(windows=replace(windows, asked=()))

    @property
    def is_leader(self) -> bool:
        """Return whether this member leads."""
        return self._performing.token is not None

    @property
    def status(self) -> Status | None:
        """Return the last good status."""
        return self.state.rounds.status

    def begin(self, token: int) -> None:
        """Lead from now on."""
        now_ms = self._context.times.steady_ms()
        self._performing.token, self._has_begun, self.has_led = token, False, True
        self.next_evaluation_ms = now_ms + self._context.settings.pull.interval_ms
        self._pulls.begin()
        self._woken.set()

    def end(self) -> None:
        """Lead no more: what was being decided is dropped."""
        self._performing.token, self.next_evaluation_ms = None, None
        self._woken.set()

    def reload(self, before: ReplicaSettings) -> None:
        """Take other settings."""
        expect = self.status.expect if self.status is not None else 1
        windows = windows_after_reload(
            self.state.windows,
            before,
            self._context.settings,
            now_ms=self._context.times.steady_ms(),
            expect=expect,
        )
        policies = policy_windows_after_reload(self.state.policies, before, self._context.settings)
        self.state = replace(self.state, windows=windows, policies=policies)
        self._woken.set()

    async def see(self, told: StatusRead | StatusDamaged) -> None:
        """Take note of what the store holds in the place of the status."""
        await self._fold(self._performing.seen(told))

    async def order(self, event: Ordered | round_messages.Rescheduled) -> None:
        """Do what an operator orders: a number at the next evaluation, which comes at once."""
        await self._fold(event)
        if self.is_leader and isinstance(event, Ordered):
            self.next_evaluation_ms = self._context.times.steady_ms()
            self._woken.set()

    async def run(self) -> Never:
        """Lead whenever this member is elected, until cancelled."""
        was_leader = False
        while True:
            if self.is_leader != was_leader:
                was_leader = self.is_leader
                self._context.log("leader", is_leader=was_leader)
                self._context.stirred.set()
                await self._context.listeners.tell(LeaderChanged(is_leader=was_leader))
                if not was_leader:
                    await self._drop_order()
            await self._turn()
            await self._until_due()

    async def _drop_order(self) -> None:
        """Forget what an operator ordered here, and say so: whoever leads next knows nothing of it."""
        ordered = self.state.ordered
        if ordered is not None:
            await self._fold(Ordered(replicas=None, cause="deposed"))
            await self._context.complain(ORDER_LOST.format(ordered=ordered))

    async def _turn(self) -> None:
        if self.is_leader and not self._has_begun:
            self._has_begun = True
            await self._fold(Begun(cause="lead"))
        elif self.is_leader and self._performing.must_read:
            await self._read_again()
        await self._pulls.pull_due(is_leader=self.is_leader)
        self._evaluating.note_metrics()
        if not self.is_leader or self.electing is None:
            await self._evaluating.coordinate(self.status, is_leader=False)
            return
        now_ms = self._context.times.steady_ms()
        if self._pulls.is_whole:
            self.electing.tell(Pulled(now_ms=now_ms, cause="pull"))
        await self._evaluating.coordinate(self.status, is_leader=True)
        is_due = (self.next_evaluation_ms or 0) <= now_ms
        if is_due and self.electing.state.stage is Stage.LEADING:
            self.next_evaluation_ms = now_ms + self._context.settings.pull.interval_ms
            await self._fold(await self._evaluating.due(self.status))

    async def _read_again(self) -> None:
        event = await self._performing.read()
        if event is not None:
            await self._fold(event)

    async def _until_due(self) -> None:
        now_ms = self._context.times.steady_ms()
        due = [self._pulls.due_ms(is_leader=self.is_leader)]
        if self.is_leader:
            due.append(self.next_evaluation_ms)
        waits_s = [(each - now_ms) / 1000 for each in due if each is not None and each > now_ms]
        try:
            async with asyncio.timeout(min([WAIT_S_MAX, *waits_s])):
                await self._woken.wait()
        except TimeoutError:
            pass
        self._woken.clear()

    async def _fold(self, event: Event) -> None:
        """Fold an event and do what follows from it; each outcome is an event again."""
        self._context.stirred.set()
        events: list[Event] = [event]
        for _ in range(COMMANDS_MAX):
            if not events:
                return
            self.state, commands = deciding.step(self._book(), self.state, events.pop(0))
            for command in commands:
                outcome = await self._performing.perform(command)
                if outcome is not None:
                    events.append(outcome)

    def _book(self) -> Rulebook:
        settings = self._context.settings
        return Rulebook(
            policies=tuple(each.policy for each in self._pulls.pulls.values()),
            course=course(settings),
            providers=self._performing.providers.listed,
        )
