"""The labels of this member: looked at every second and at every event, published, and then told.

What the machine wants done is done in its order: who may serve is written down before it is shown, and
shown before the application is told. Where the store is away a member gains no label; it may lose one, and
others see that as soon as the store is back.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final, Never, assert_never

from springtide.edge.store import StoreFault
from springtide.engine.replicas import labels, protection
from springtide.engine.replicas.gates import Plan
from springtide.engine.replicas.label_messages import (
    Check,
    Command,
    Drained,
    Event,
    Looked,
    Protect,
    PublishLabels,
    ReadyChanged,
    TargetChanged,
    WarnUnprotected,
)
from springtide.engine.replicas.labels import Labels
from springtide.engine.replicas.protection import Protection
from springtide.engine.replicas.setup import label_rules
from springtide.model.replicas.member import READY_LABEL, TARGET_LABEL, Member, Record
from springtide.replicas import occurrences
from springtide.replicas.context import Context

LOOK_S: Final = 1.0
LOOK_STOPPING_S: Final = 0.1
RETRY_S_MIN: Final = 0.2
RETRY_S_MAX: Final = 5.0
LEAVING_S_MAX: Final = 10.0
"""So much later, at most, is the application told of a label that it lost if the store takes it not."""
LABELS_AT_ONCE: Final = 8
UNPROTECTED: Final = (
    "No stateful check is set, so this member stops serving without anybody knowing what it holds. "
    "Set one with set_stateful_check."
)
UNSHOWN: Final = (
    "The store did not take what changed here, and the application is told all the same. "
    "Others see it when the store is back."
)


class Labelling:
    """Looks, publishes and tells."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self.state = Labels(plan=Plan(booted_ms=context.booted_ms, index=context.identity.index))
        self.protection = Protection()
        self._todo: deque[Command] = deque()
        self._woken = asyncio.Event()
        self._shown = (False, False)
        self._has_target = False
        self._has_ready = False
        self._unready_ms = context.times.steady_ms()
        self.renew: Callable[[], object] = _nothing
        """Called when a label has changed, before the application is told."""
        self.is_idle = True
        """Whether nothing of what was decided is still to be done."""

    @property
    def is_target(self) -> bool:
        """Return whether new state belongs here: a gain counts once it is shown, a loss at once."""
        return self.state.is_target and self._has_target

    @property
    def is_ready(self) -> bool:
        """Return whether this member may serve: a gain counts once it is written down and shown."""
        return self.state.is_ready and self._has_ready

    def tell(self, event: Event) -> None:
        """Fold an event, and look soon."""
        rules = label_rules(self._context.settings, has_ordinals=self._context.identity.has_ordinal)
        before = self.state
        self.state, commands = labels.step(rules, self.state, event)
        if self.state != before:
            self._context.stirred.set()
        if before.is_ready and not self.state.is_ready:
            self._unready_ms = self._context.times.steady_ms()
        self._todo.extend(commands)
        self.is_idle = self.is_idle and not self._todo
        self._woken.set()

    def unready_ms(self) -> int | None:
        """Return for how long this member has not served; None while it does."""
        if self.state.is_ready:
            return None
        return self._context.times.steady_ms() - self._unready_ms

    def tell_records(self, event: protection.Event) -> tuple[protection.Command, ...]:
        """Fold what the store shows of records and members; return who was lost."""
        self.protection, commands = protection.step(self.protection, event)
        index = self.state.protected
        if isinstance(event, protection.RecordsSeen) and index is not None:
            self._protect_again(index)
        return commands

    def _protect_again(self, index: int) -> None:
        """Write down anew what a store has lost."""
        if index not in self.protection.records and Protect(index) not in self._todo:
            self._todo.append(Protect(index))
            self.is_idle = False
            self._woken.set()

    def member(self) -> Member:
        """Return this member as others are to see it."""
        context, identity = self._context, self._context.identity
        return Member(
            id=identity.id,
            name=identity.name,
            has_ordinal=identity.has_ordinal,
            started_ms=context.booted_ms,
            is_stopping=self.state.plan.is_stopping,
            index=self.state.plan.index if context.is_allocated else identity.index,
            boot=context.boot,
            service=identity.service,
            target=context.settings.workload.name,
            address=identity.address,
            is_target=self.state.is_target,
            is_ready=self.state.is_ready,
            labels=identity.labels,
        )

    async def run(self) -> Never:
        """Look until cancelled."""
        while True:
            await self._until_due()
            for _ in range(LABELS_AT_ONCE):
                await self._perform_all()
                if not await self._look():
                    break
            self.is_idle = not self._todo

    async def _until_due(self) -> None:
        wait_s = LOOK_STOPPING_S if self.state.plan.is_stopping else self._wait_s()
        try:
            async with asyncio.timeout(wait_s):
                await self._woken.wait()
        except TimeoutError:
            pass
        self._woken.clear()

    def _wait_s(self) -> float:
        """Return how long to wait: to the next time of the round, if that is sooner than a look."""
        status = self.state.plan.status
        if status is None:
            return LOOK_S
        now_ms = self._context.times.now_ms()
        times = (status.start_ms, status.end_ms, status.scaling_ms)
        return min([LOOK_S, *((each - now_ms) / 1000 for each in times if each > now_ms)])

    async def _look(self) -> bool:
        """Look once, asking what is needed for it; return whether anything is to be done."""
        checks, state = self._context.checks, self.state
        ready = Check.ABSENT if state.is_ready or not checks.has_ready else await checks.ready()
        stateful = Check.ABSENT
        if state.is_ready and not state.is_target and checks.has_stateful:
            stateful = await checks.stateful()
        while checks.untold:
            await self._context.complain(checks.untold.pop(0))
        now_ms = self._context.times.now_ms()
        self.tell(Looked(now_ms=now_ms, cause="look", ready=ready, stateful=stateful))
        self._woken.clear()
        return bool(self._todo)

    async def _perform_all(self) -> None:
        while self._todo:
            await self._perform(self._todo[0])
            self._todo.popleft()

    async def _perform(self, command: Command) -> None:
        tell = self._context.listeners.tell
        match command:
            case Protect(index=index):
                await self._protect(index)
            case Drained(index=index):
                await self._drained(index)
            case PublishLabels():
                await self._publish(command)
            case TargetChanged(is_target=is_target):
                self._has_target = is_target
                self._count(TARGET_LABEL, is_on=is_target)
                self.renew()
                await tell(occurrences.TargetChanged(is_target=is_target))
            case ReadyChanged(is_ready=is_ready):
                self._has_ready = is_ready
                self._count(READY_LABEL, is_on=is_ready)
                self.renew()
                await tell(occurrences.ReadyChanged(is_ready=is_ready))
            case WarnUnprotected():
                await self._context.complain(UNPROTECTED)
            case _:
                assert_never(command)

    def _count(self, label: str, *, is_on: bool) -> None:
        value = "1" if is_on else "0"
        self._context.count_transition(label, value)
        self._context.log("label", label=label, value=value)

    async def _publish(self, wanted: PublishLabels) -> None:
        """Show both labels; a gain is shown before it counts, a loss within a while."""
        was_target, was_ready = self._shown
        self._shown = (wanted.is_target, wanted.is_ready)
        is_loss = was_target > wanted.is_target or was_ready > wanted.is_ready
        await self._until_done("join", self._join, is_patient=not is_loss)

    async def _join(self) -> None:
        await self._context.store.join(self.member())

    async def _until_done(
        self, operation: str, do: Callable[[], Awaitable[None]], *, is_patient: bool = True
    ) -> None:
        """Try until the store has done it; who is impatient, or stops, goes on after a while."""
        clock = self._context.times.clock
        begun_s, wait_s = clock.monotonic_s(), RETRY_S_MIN
        while True:
            try:
                return await do()
            except StoreFault as fault:
                self._context.count_backend_error(operation, str(fault))
            may_go_on = not is_patient or self.state.plan.is_stopping
            if may_go_on and clock.monotonic_s() - begun_s > LEAVING_S_MAX:
                return await self._context.complain(UNSHOWN)
            await asyncio.sleep(wait_s)
            wait_s = min(2 * wait_s, RETRY_S_MAX)

    async def _protect(self, index: int) -> None:
        """Write down that this number serves here; a restarted member takes its own record over."""
        if self.state.protected != index:
            return
        record = Record(
            member=self._context.identity.name,
            boot=self._context.boot,
            at_ms=self._context.times.now_ms(),
        )
        kept = self.protection.records.get(index)
        event: protection.Event = protection.Served(index=index, record=record, cause="ready")
        if kept is not None and kept.member == record.member:
            event = protection.Recovered(
                index=index, record=record, holds_state=True, cause="ready"
            )
        await self.keep(self.tell_records(event))

    async def _drained(self, index: int) -> None:
        event = protection.DrainedFully(index=index, boot=self._context.boot, cause="drained")
        await self.keep(self.tell_records(event))
        self._context.count_exit("drained")

    async def register(self) -> None:
        """Show this member as it is; where the store is away, it does so when it is back."""
        try:
            async with asyncio.timeout(LEAVING_S_MAX):
                await self._join()
        except (StoreFault, TimeoutError) as fault:
            self._context.count_backend_error("join", str(fault))

    async def keep(self, commands: tuple[protection.Command, ...]) -> None:
        """Do what was decided of records."""
        store = self._context.store
        for command in commands:
            match command:
                case protection.PutRecord(index=index, record=record):
                    await self._until_done("put_record", lambda: store.put_record(index, record))
                case protection.DeleteRecord(index=index, boot=boot):
                    await self._until_done(
                        "delete_record", lambda: store.delete_record(index, boot)
                    )
                case _:
                    pass


def _nothing() -> None:
    pass
