"""What each policy says: asked of Prometheus when it is due, judged, and told to whoever wants to know."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Final, Literal, Protocol, TypeAlias, get_args

import msgspec

from springtide.engine.replicas.members import expected
from springtide.engine.replicas.pulling import next_pull_ms, received_ago_ms_max
from springtide.engine.replicas.queries import joint_query
from springtide.engine.replicas.rows import rows_of
from springtide.engine.replicas.setup import asking, policies
from springtide.engine.replicas.verdicts import Circumstance, Judged, Unknown, judge
from springtide.model.replicas.answer import Answer, Answered, Refused, Unreachable
from springtide.model.replicas.member import Member
from springtide.model.replicas.policy import Policy
from springtide.model.replicas.settings import ReplicaSettings
from springtide.replicas.asking import Callback
from springtide.replicas.context import Context
from springtide.replicas.occurrences import InputUnknown
from springtide.replicas.snapshot import PolicyShown

AT_ONCE_MAX: Final = 16
"""So many policies are asked for at a time."""
MARGIN_MS: Final = 1_000

Moment: TypeAlias = Literal["instant", "range", "error", "warning", "ready"]


class Metrics(Protocol):
    """Answers queries; it never raises."""

    async def answer(self, text: str) -> Answer:
        """Return what a query comes to now."""
        ...


class NoMetrics:
    """There is no Prometheus: every metric is unknown."""

    async def answer(self, text: str) -> Answer:
        """Return that nobody can be asked."""
        del text
        return Unreachable("no address of Prometheus is configured")


class Came(msgspec.Struct, frozen=True, kw_only=True):
    """An answer, and when it came by both clocks."""

    answer: Answer
    at_ms: int
    steady_ms: int
    members_expected: int


class Subscribed(msgspec.Struct, frozen=True):
    """A callback of the application on a policy; an active one has it pulled even without leading."""

    moment: Moment
    callback: Callback
    is_active: bool


class PolicyPull:
    """One policy, its last answer, and when it is asked for next."""

    def __init__(self, policy: Policy, query: str) -> None:
        self.policy = policy
        self.query = query
        self.due_ms = 0
        self.came: Came | None = None
        self.judged: Judged | None = None
        self.is_ready = False
        self.unknown: Counter[str] = Counter()
        self.subscribed: list[Subscribed] = []
        self._known: tuple[Came | None, Judged | None] = (None, None)
        self._shown: PolicyShown | None = None

    @property
    def is_active(self) -> bool:
        """Return whether the application wants it pulled whoever leads."""
        return any(each.is_active for each in self.subscribed)

    def on(
        self, moment: Moment, callback: Callback, *, is_active: bool = False
    ) -> Callable[[], None]:
        """Tell a callback of this moment from now on; the answer ends that."""
        if moment not in get_args(Moment):
            raise ValueError(f'"{moment}" is none of {", ".join(get_args(Moment))}.')
        one = Subscribed(moment, callback, is_active)
        self.subscribed.append(one)

        def end() -> None:
            if one in self.subscribed:
                self.subscribed.remove(one)

        return end

    def shown(self) -> PolicyShown:
        """Return what is known of it; made anew only after another answer or verdict."""
        known = (self.came, self.judged)
        if self._shown is None or any(a is not b for a, b in zip(self._known, known, strict=True)):
            self._known, self._shown = known, self._made()
        return self._shown

    def _made(self) -> PolicyShown:
        came, judged, policy = self.came, self.judged, self.policy
        values = () if came is None else _values(came.answer, policy)
        up = judged.up if judged is not None else None
        down = judged.down if judged is not None else None
        return PolicyShown(
            name=policy.name,
            query=self.query,
            value=values[0] if values else None,
            pulled_ms=came.at_ms if came is not None else None,
            up_unknown=up.label if isinstance(up, Unknown) else "",
            down_unknown=down.label if isinstance(down, Unknown) else "",
            words=down.words if isinstance(down, Unknown) else "",
            is_checked=policy.is_checked,
            up_per_replica=policy.up_per_replica,
            down_per_replica=policy.down_per_replica,
            unknown_counts=dict(self.unknown),
        )


def _values(answer: Answer, policy: Policy) -> tuple[float, ...]:
    if not isinstance(answer, Answered):
        return ()
    return tuple(float(each) for each in rows_of(answer, policy.reduction).values)


class Pulls:
    """All policies of a workload."""

    def __init__(
        self,
        context: Context,
        metrics: Metrics,
        *,
        drawn: Callable[[], int],
        policies_of: Callable[[ReplicaSettings], Iterable[Policy]] = policies,
    ) -> None:
        self._context = context
        self._metrics = metrics
        self._drawn = drawn
        self._policies_of = policies_of
        self.members: tuple[Member, ...] = ()
        self.clock_offset_ms: int | None = None
        self.pulls: dict[str, PolicyPull] = {}
        self.reload()

    def reload(self) -> None:
        """Take the policies of the settings; what the application subscribed to by name stays."""
        before, self.pulls = self.pulls, {}
        for policy in self._policies_of(self._context.settings):
            pull = self.add(policy)
            known = before.get(policy.name)
            if known is not None:
                pull.subscribed, pull.unknown = known.subscribed, known.unknown

    def add(self, policy: Policy) -> PolicyPull:
        """Take one policy more, in the place of one of the same name."""
        pull = PolicyPull(policy, joint_query(policy, asking(self._context.settings)))
        self.pulls = {**self.pulls, policy.name: pull}
        return pull

    def begin(self) -> None:
        """Ask for everything anew: this member leads."""
        for pull in self.pulls.values():
            pull.came, pull.judged, pull.is_ready, pull.due_ms = None, None, False, 0

    @property
    def is_whole(self) -> bool:
        """Return whether every policy was answered since the beginning, whatever the answer was."""
        return all(each.came is not None for each in self.pulls.values())

    def due_ms(self, *, is_leader: bool) -> int | None:
        """Return when somebody has to be asked next."""
        wanted = [each.due_ms for each in self.pulls.values() if is_leader or each.is_active]
        return min(wanted, default=None)

    async def pull_due(self, *, is_leader: bool) -> None:
        """Ask for what is due, some at a time."""
        now_ms = self._context.times.steady_ms()
        due = [
            each
            for each in self.pulls.values()
            if each.due_ms <= now_ms and (is_leader or each.is_active)
        ]
        turns = asyncio.Semaphore(AT_ONCE_MAX)
        async with asyncio.TaskGroup() as group:
            for each in due:
                group.create_task(self._pull(each, turns))

    def judged(self) -> dict[str, Judged]:
        """Return what every answered policy says now: an answer grows old."""
        now_ms = self._context.times.steady_ms()
        found = {}
        for name, pull in self.pulls.items():
            if pull.came is not None:
                pull.judged = self._judge(pull, pull.came, now_ms)
                found[name] = pull.judged
        return found

    async def _pull(self, pull: PolicyPull, turns: asyncio.Semaphore) -> None:
        settings, times = self._context.settings.pull, self._context.times
        async with turns:
            asked_ms = times.steady_ms()
            pull.due_ms = asked_ms + settings.interval_ms
            try:
                async with asyncio.timeout((settings.timeout_ms + MARGIN_MS) / 1000):
                    answer = await self._metrics.answer(pull.query)
            except TimeoutError:
                answer = Unreachable(f"no answer within {settings.timeout_ms / 1000:g} s")
        now_ms = times.steady_ms()
        came = Came(
            answer=answer,
            at_ms=times.now_ms(),
            steady_ms=now_ms,
            members_expected=self._members_expected(),
        )
        pull.came, pull.judged = came, self._judge(pull, came, now_ms)
        pull.due_ms = next_pull_ms(
            settings, pull.judged, now_ms=asked_ms, drawn_permille=self._drawn()
        )
        self._note_clock(came)
        await self._tell(pull, came)

    def _members_expected(self) -> int:
        warmup_ms = self._context.settings.labels.init_wait_ms
        return expected(self.members, now_ms=self._context.times.now_ms(), warmup_ms=warmup_ms)

    def _judge(self, pull: PolicyPull, came: Came, now_ms: int) -> Judged:
        circumstance = Circumstance(
            now_ms=came.at_ms,
            members_expected=came.members_expected,
            received_ago_ms=now_ms - came.steady_ms,
            received_ago_max_ms=received_ago_ms_max(self._context.settings.pull),
        )
        return judge(pull.policy, came.answer, circumstance)

    def _note_clock(self, came: Came) -> None:
        if isinstance(came.answer, Answered):
            times = [each.samples[-1].at_ms for each in came.answer.series]
            if times:
                self.clock_offset_ms = max(times) - came.at_ms

    async def _tell(self, pull: PolicyPull, came: Came) -> None:
        judged = pull.judged
        if judged is not None and isinstance(judged.down, Unknown):
            pull.unknown[judged.down.label] += 1
            unknown = judged.down
            self._context.log("input_unknown", policy=pull.policy.name, why=unknown.words)
            await self._context.listeners.tell(
                InputUnknown(policy=pull.policy.name, reason=unknown.label, words=unknown.words)
            )
        for moment, argument in _moments(came.answer, pull.policy):
            await self._call(pull, moment, argument)
        if isinstance(came.answer, Answered) and not pull.is_ready:
            pull.is_ready = True
            await self._call(pull, "ready", None)

    async def _call(self, pull: PolicyPull, moment: Moment, argument: object) -> None:
        arguments = () if argument is None else (argument,)
        for each in list(pull.subscribed):
            if each.moment == moment:
                await each.callback.call(*arguments)


def _moments(answer: Answer, policy: Policy) -> list[tuple[Moment, object]]:
    """Return what an application is told of an answer: warnings, numbers, series; or what is wrong."""
    if not isinstance(answer, Answered):
        why = answer.message if isinstance(answer, Refused) else str(answer)
        return [("error", why)]
    told: list[tuple[Moment, object]] = [("warning", each) for each in answer.warnings]
    told.append(("instant", rows_of(answer, policy.reduction).values))
    told.append(("range", answer.series))
    return told


def shown(pulls: Pulls) -> tuple[PolicyShown, ...]:
    """Return what is known of every policy."""
    return tuple(each.shown() for each in pulls.pulls.values())
