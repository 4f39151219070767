"""What a leader does: it has all metrics pulled, evaluates them at every interval, and writes the status.

Everybody else keeps the same machine, so that each member judges by itself whether a status may be
followed; only a leader's decisions are evaluated and written.
"""

import asyncio
from collections.abc import Awaitable
from typing import Final, Never, Protocol, assert_never

import msgspec
from msgspec.structs import replace

from springtide.edge.store import Conflict, Offer, StatusDamaged, StatusRead, StoreFault
from springtide.engine.replicas import deciding, rounds
from springtide.engine.replicas.deciding import (
    Command,
    Deciding,
    Evaluated,
    EvaluationDue,
    Event,
    Ordered,
    Rulebook,
)
from springtide.engine.replicas.leadership import Pulled, Stage
from springtide.engine.replicas.providers import AskProvider, Provider, ProviderFailed, ProviderSaid
from springtide.engine.replicas.rounds import (
    Begun,
    Complain,
    NotWritten,
    PutStatus,
    ReadStatus,
    StatusSeen,
    StatusUnreadable,
    Written,
)
from springtide.engine.replicas.setup import course, first_windows, windows_after_reload
from springtide.model.replicas.member import Member
from springtide.model.replicas.settings import ReplicaSettings
from springtide.model.replicas.status import Status
from springtide.replicas.asking import Callback, Failed
from springtide.replicas.context import Context
from springtide.replicas.electing import Electing
from springtide.replicas.labelling import Labelling
from springtide.replicas.occurrences import LeaderChanged
from springtide.replicas.pulling import Pulls

STORE_S_MAX: Final = 10.0
WAIT_S_MAX: Final = 1.0
COMMANDS_MAX: Final = 1024
"""So many steps at most follow from one evaluation: providers, writes and reads."""


class ReplicaProvider(Protocol):
    """The application's own say; each method takes and returns a number, or None for unknown."""

    def up(self, replicas: int | None) -> int | Awaitable[int | None] | None:
        """Return how many are needed at least."""
        ...

    def down(self, replicas: int | None) -> int | Awaitable[int | None] | None:
        """Return how few would do."""
        ...


class Given(msgspec.Struct, frozen=True, kw_only=True):
    """A provider as the application gave it."""

    up: Callback
    down: Callback
    priority: int


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """What the last evaluation came to."""

    up: int | None = None
    down: int | None = None
    why: str = ""


class Leading:
    """The decision of this member, whether it leads or follows."""

    def __init__(self, context: Context, pulls: Pulls, labelling: Labelling) -> None:
        self._context = context
        self._pulls = pulls
        self._labelling = labelling
        self._providers: dict[str, Given] = {}
        self._token: int | None = None
        self._has_begun = False
        self._must_read = False
        self._woken = asyncio.Event()
        self.electing: Electing | None = None
        self.next_evaluation_ms: int | None = None
        self.shown = Shown()
        times = context.times
        windows = first_windows(context.settings, now_ms=times.steady_ms(), expect=1)
        self.state = Deciding(windows=replace(windows, asked=()))

    @property
    def is_leader(self) -> bool:
        """Return whether this member leads."""
        return self._token is not None

    @property
    def status(self) -> Status | None:
        """Return the last good status."""
        return self.state.rounds.status

    def add_provider(self, name: str, provider: ReplicaProvider, *, priority: int) -> None:
        """Ask this provider, too, from the next evaluation on."""
        self._providers[name] = Given(
            up=Callback(provider.up), down=Callback(provider.down), priority=priority
        )

    def remove_provider(self, name: str) -> None:
        """Ask it no more."""
        self._providers.pop(name, None)

    def begin(self, token: int) -> None:
        """Lead from now on."""
        now_ms = self._context.times.steady_ms()
        self._token, self._has_begun = token, False
        self.next_evaluation_ms = now_ms + self._context.settings.pull.interval_ms
        self._pulls.begin()
        self._woken.set()

    def end(self) -> None:
        """Lead no more: what was being decided is dropped."""
        self._token, self.next_evaluation_ms = None, None
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
        self.state = replace(self.state, windows=windows)
        self._woken.set()

    async def see(self, told: StatusRead | StatusDamaged) -> None:
        """Take note of what the store holds in the place of the status."""
        await self._fold(self._seen(told))

    async def order(self, event: Ordered | rounds.Rescheduled) -> None:
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
                await self._context.listeners.tell(LeaderChanged(is_leader=was_leader))
            await self._turn()
            await self._until_due()

    async def _turn(self) -> None:
        if self.is_leader and not self._has_begun:
            self._has_begun = True
            await self._fold(Begun(cause="lead"))
        elif self.is_leader and self._must_read:
            await self._read_again()
        await self._pulls.pull_due(is_leader=self.is_leader)
        if not self.is_leader or self.electing is None:
            return
        times = self._context.times
        if self._pulls.is_whole:
            self.electing.tell(Pulled(now_ms=times.steady_ms(), cause="pull"))
        is_due = (self.next_evaluation_ms or 0) <= times.steady_ms()
        if is_due and self.electing.state.stage is Stage.LEADING:
            self.next_evaluation_ms = times.steady_ms() + self._context.settings.pull.interval_ms
            await self._evaluate()

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

    async def _evaluate(self) -> None:
        times = self._context.times
        replicas = await self._replicas()
        await self._fold(
            EvaluationDue(
                judged=self._pulls.judged(),
                observed=max(observed(self._pulls.members), replicas or 0, 1),
                now_ms=times.now_ms(),
                steady_ms=times.steady_ms(),
                cause="interval",
                floor=self._floor(),
            )
        )

    def _floor(self) -> int:
        """Return what must stay whatever the load: the leader itself, where numbers are its own rank."""
        if self._context.identity.has_ordinal or self._context.settings.knobs.rank_slack == 0:
            return 0
        return self._labelling.state.plan.index or 0

    async def _replicas(self) -> int | None:
        if self.status is not None:
            return None
        try:
            async with asyncio.timeout(STORE_S_MAX):
                return await self._context.store.replicas()
        except (StoreFault, TimeoutError) as fault:
            self._context.count_backend_error("replicas", str(fault))
            return None

    async def _fold(self, event: Event) -> None:
        """Fold an event and do what follows from it; each outcome is an event again."""
        events: list[Event] = [event]
        for _ in range(COMMANDS_MAX):
            if not events:
                return
            self.state, commands = deciding.step(self._book(), self.state, events.pop(0))
            for command in commands:
                outcome = await self._perform(command)
                if outcome is not None:
                    events.append(outcome)

    def _book(self) -> Rulebook:
        settings = self._context.settings
        return Rulebook(
            policies=tuple(each.policy for each in self._pulls.pulls.values()),
            course=course(settings),
            providers=tuple(
                Provider(name, each.priority) for name, each in self._providers.items()
            ),
        )

    async def _perform(self, command: Command) -> Event | None:
        match command:
            case AskProvider():
                return await self._ask(command)
            case Evaluated(suggestion=suggestion, why=why):
                self.shown = Shown(up=suggestion.up, down=suggestion.down, why=why)
                self._context.log("evaluated", replicas=command.replicas, why=why)
                return None
            case PutStatus():
                return await self._put(command)
            case ReadStatus():
                return await self._read()
            case Complain(words=words):
                await self._context.complain(words)
                return None
            case _:
                assert_never(command)

    async def _ask(self, command: AskProvider) -> Event:
        given = self._providers.get(command.name)
        if given is None:
            return ProviderFailed(name=command.name, why="it was removed", cause="provider")
        up = await given.up.call(command.suggestion.up)
        down = await given.down.call(command.suggestion.down)
        for answer in (up, down):
            if isinstance(answer, Failed):
                return ProviderFailed(name=command.name, why=answer.why, cause="provider")
        return ProviderSaid(name=command.name, up=up, down=down, cause="provider")

    async def _put(self, command: PutStatus) -> Event:
        token = self._token
        if token is None:
            return NotWritten(cause="deposed")
        identity = self._context.identity
        status = replace(command.status, controller_id=identity.id, controller_name=identity.name)
        try:
            async with asyncio.timeout(STORE_S_MAX):
                revision = await self._context.store.put_status(
                    Offer(token=token, revision=command.revision, status=status)
                )
        except Conflict as fault:
            self._context.log("status_not_written", why=str(fault))
            return NotWritten(cause="conflict")
        except (StoreFault, TimeoutError) as fault:
            self._context.count_backend_error("put_status", str(fault))
            return NotWritten(cause="fault")
        self._context.log(
            "status_written",
            generation=status.generation,
            current=status.current,
            expect=status.expect,
            revision=revision,
            why=status.reason,
        )
        return Written(revision=revision, cause="put")

    async def _read(self) -> Event | None:
        """Read the status again; where that fails, it is tried at the next turn."""
        try:
            async with asyncio.timeout(STORE_S_MAX):
                told = await self._context.store.read_status()
        except (StoreFault, TimeoutError) as fault:
            self._context.count_backend_error("read_status", str(fault))
            self._must_read = True
            return None
        self._must_read = False
        return self._seen(told)

    async def _read_again(self) -> None:
        event = await self._read()
        if event is not None:
            await self._fold(event)

    def _seen(self, told: StatusRead | StatusDamaged) -> StatusSeen | StatusUnreadable:
        if isinstance(told, StatusDamaged):
            return StatusUnreadable(why=told.why, revision=told.revision, cause="store")
        return StatusSeen(
            status=told.status,
            revision=told.revision,
            now_ms=self._context.times.now_ms(),
            cause="store",
        )


def observed(members: tuple[Member, ...]) -> int:
    """Return how many replicas can be seen: members that live, and the highest number of one."""
    return max([len(members), *(each.index for each in members if each.index is not None)])
