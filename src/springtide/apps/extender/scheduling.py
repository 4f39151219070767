"""Owns the live scheduler: callers' questions and the cluster's news come to it here, one at a time.

The event loop is the queue: every step is synchronous, so no step sees another one half done. What steps
ask for is performed beside them, and comes back as a step.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Final

import msgspec

from springtide.apps.extender.figures import Figures
from springtide.apps.extender.log import Log
from springtide.apps.extender.performing import Performer
from springtide.apps.extender.turns import Turns
from springtide.base.clock import Calendar, Clock
from springtide.edge.cluster import ClusterFault
from springtide.engine.live import (
    Admitted,
    AnswerBind,
    Commands,
    Filtered,
    Live,
    Outcome,
    PatchPod,
    RecordEvent,
    Submitted,
)
from springtide.wire.extender import SCORE_MAX, BindingArguments, Candidates

NO_NODES: Final = "extender args missing both Nodes and NodeNames"
NOT_READY: Final = (
    "the scheduler is still reading the cluster; it answers once it knows every node and pod"
)
FOLLOWING: Final = "this replica does not lead; the one that holds the lease answers"
STOPPING: Final = "the scheduler is shutting down"
FILTERING_FAILED: Final = "FilteringFailed"
LATE: Final = "the node was not free in time, or the API server is slow; the bind is tried again"


class Passed(msgspec.Struct, frozen=True):
    """These of the candidates are left, by name."""

    names: tuple[str, ...]


class Rejected(msgspec.Struct, frozen=True):
    """No candidate is left, and why."""

    reasons: Mapping[str, str]


class Unanswered(msgspec.Struct, frozen=True):
    """The question could not be answered."""

    why: str


Verdict = Passed | Rejected | Unanswered


class Waits(msgspec.Struct, frozen=True, kw_only=True):
    """How long callers are kept waiting."""

    ready_s: float
    bind_s: float


class Scheduling:
    """The live scheduler of this process, and who waits for it; `onlookers` are told who leads."""

    def __init__(
        self,
        live: Live,
        performer: Performer,
        *,
        clock: Clock,
        calendar: Calendar,
        waits: Waits,
        figures: Figures,
        log: Log,
    ) -> None:
        self.live = live
        self.figures = figures
        self.is_leading = False
        self.holds: Callable[[], bool] = lambda: True
        self.is_leaving = False
        self.is_stopping = False
        self.ready = asyncio.Event()
        self.onlookers: list[Callable[[], None]] = []
        self._performer = performer
        self._clock = clock
        self._calendar = calendar
        self._waits = waits
        self._log = log
        self._turns = Turns()
        self._binding: dict[str, asyncio.Future[str]] = {}
        performer.tell = self._tell
        performer.answer = self._answer

    @property
    def binds(self) -> int:
        """Return how many binds are under way."""
        return len(self._binding)

    def now_s(self) -> float:
        """Return what time it is."""
        return self._calendar.unix_s()

    def ask(self, commands: Commands) -> None:
        """Have commands performed that a step asks for."""
        self._performer.ask(commands)

    def lead(self, *, is_leading: bool) -> None:
        """Begin or stop to decide."""
        if is_leading == self.is_leading:
            return
        self.is_leading = is_leading
        self._log("leading" if is_leading else "following")
        self.ask(self.live.lead(is_leading=is_leading, now_s=self.now_s()))
        for each in self.onlookers:
            each()

    # ------------------------------------------------------------------------ filter

    async def filter(self, candidates: Candidates) -> Verdict:
        """Return which node a pod gets, once its devices are held and written on it."""
        begun_s = self._clock.monotonic_s()
        if not candidates.has_nodes:
            return Unanswered(NO_NODES)
        hindrance = await self._hindrance()
        if hindrance:
            return Unanswered(hindrance)
        verdict = await self._filtered(candidates, begun_s)
        self.figures.filter_s.observe(self._clock.monotonic_s() - begun_s)
        return verdict

    async def _hindrance(self) -> str:
        """Return why no question can be answered, empty once they can."""
        if self.is_stopping:
            return STOPPING
        try:
            async with asyncio.timeout(self._waits.ready_s):
                await self.ready.wait()
        except TimeoutError:
            return NOT_READY
        # Whoever was held up may have lost the lease before it was told.
        return "" if self.is_leading and self.holds() else FOLLOWING

    async def prioritize(self, candidates: Candidates) -> Mapping[str, int] | Unanswered:
        """Return how well nodes suit a pod."""
        hindrance = await self._hindrance()
        if hindrance:
            return Unanswered(hindrance)
        scores = self.live.prioritize(candidates.pod, candidates.names, most=SCORE_MAX)
        best = max(scores, key=scores.__getitem__, default="")
        pod = candidates.pod
        self._log("prioritize", pod=pod.key, uid=pod.uid, candidates=len(scores), best=best)
        return scores

    async def _filtered(self, candidates: Candidates, begun_s: float) -> Verdict:
        pod = candidates.pod
        # A caller that gave up may ask again while its first patch is still under way.
        async with self._turns.turn(pod.uid):
            before_s = self._clock.monotonic_s()
            filtered = self.live.filter(pod, candidates.names, now_s=self.now_s())
            self.figures.decision_s.observe(self._clock.monotonic_s() - before_s)
            why = await self._written(filtered)
        verdict = _verdict(candidates, filtered, why)
        took_s = self._clock.monotonic_s() - begun_s
        self._tell_filter(candidates, filtered, verdict, took_s=took_s)
        return verdict

    async def _written(self, filtered: Filtered) -> str:
        """Write a reservation on its pod; return why it could not be, and then it is taken back."""
        patch = filtered.patch
        if patch is None:
            self.ask(filtered.events)
            return filtered.error
        try:
            await self._performer.patch(patch)
        except ClusterFault as fault:
            self.ask(self.live.take_back(patch.uid))
            self.figures.patch_failures.inc()
            self.ask((_failure(patch, str(fault)),))
            return str(fault)
        self.ask(filtered.events)
        return ""

    def _tell_filter(
        self, candidates: Candidates, filtered: Filtered, verdict: Verdict, *, took_s: float
    ) -> None:
        reasons = _counted(filtered.refusals.values())
        self.figures.filtered(_word(verdict, filtered), reasons)
        self._log(
            "filter",
            is_fault=isinstance(verdict, Unanswered),
            verdict=_word(verdict, filtered),
            pod=candidates.pod.key,
            uid=candidates.pod.uid,
            candidates=len(candidates.names),
            node=filtered.node or "",
            reasons=reasons,
            error=verdict.why if isinstance(verdict, Unanswered) else "",
            took_ms=round(took_s * 1e3, 3),
        )

    # ------------------------------------------------------------------------ bind

    async def bind(self, arguments: BindingArguments) -> str:
        """Bind a pod to its node; return why it could not be, empty if it is bound."""
        begun_s = self._clock.monotonic_s()
        hindrance = await self._hindrance()
        error = hindrance or await self._bound(arguments)
        took_s = self._clock.monotonic_s() - begun_s
        self.figures.bound(took_s, is_bound=not error)
        self._log(
            "bind",
            is_fault=bool(error),
            pod=f"{arguments.namespace}/{arguments.name}",
            uid=arguments.uid,
            node=arguments.node,
            error=error,
            took_ms=round(took_s * 1e3, 3),
        )
        return error

    async def _bound(self, arguments: BindingArguments) -> str:
        known = self._binding.get(arguments.uid)
        if known is not None:
            # The same call once more, as after a broken connection: both get the one answer.
            return await self._awaited(known)
        answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._binding[arguments.uid] = answer
        self.live.is_entitled = self.holds()
        self.ask(
            self.live.bind(
                uid=arguments.uid,
                namespace=arguments.namespace,
                name=arguments.name,
                node=arguments.node,
                now_s=self.now_s(),
            )
        )
        return await self._awaited(answer)

    async def _awaited(self, answer: asyncio.Future[str]) -> str:
        done, _ = await asyncio.wait({answer}, timeout=self._waits.bind_s)
        return answer.result() if done else LATE

    def _answer(self, answer: AnswerBind) -> None:
        waiting = self._binding.pop(answer.uid, None)
        if waiting is not None and not waiting.done():
            waiting.set_result(answer.error)

    def _tell(self, bind: str, outcome: Outcome) -> None:
        self.live.is_entitled = self.holds()
        self.ask(self.live.outcome(bind, outcome, now_s=self.now_s()))

    # ------------------------------------------------------------------------ admission

    def admit(self, submitted: Submitted) -> Admitted:
        """Return what admission makes of a pod; every replica may be asked, at any time."""
        admitted = self.live.admit(submitted)
        self.figures.admitted(admitted.code if not admitted.is_allowed else 0)
        self._log(
            "webhook",
            pod=submitted.pod.key,
            allowed=admitted.is_allowed,
            changed=bool(admitted.spec or admitted.scheduler_name or admitted.environment),
            message=admitted.message,
        )
        return admitted


def _failure(patch: PatchPod, message: str) -> RecordEvent:
    return RecordEvent(
        uid=patch.uid,
        namespace=patch.namespace,
        name=patch.name,
        reason=FILTERING_FAILED,
        message=message,
        is_warning=True,
    )


def _verdict(candidates: Candidates, filtered: Filtered, why: str) -> Verdict:
    if why:
        return Unanswered(why)
    if filtered.passes:
        return Passed(candidates.names)
    if filtered.node is not None:
        return Passed((filtered.node,))
    if filtered.nodes:
        return Passed(filtered.nodes)
    return Rejected(filtered.refusals)


def _word(verdict: Verdict, filtered: Filtered) -> str:
    if isinstance(verdict, Unanswered):
        return "error"
    if filtered.passes:
        return "passed"
    if filtered.nodes:
        return "offered"
    return "placed" if isinstance(verdict, Passed) else "refused"


def _counted(texts: Iterable[str]) -> dict[str, int]:
    """Return how many nodes say each reason, but for how many of their devices do."""
    return dict(
        Counter(
            part.strip().rpartition(" ")[2] if "/" in part else part.strip()
            for text in texts
            for part in text.split(",")
        )
    )
