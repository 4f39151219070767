"""One step of growing: which group is grown, together with which similar ones, for which pods.

Cluster Autoscaler's decision, from the groups that may grow at all, over the options that they are
and the expanders that compare these, to the nodes that limits leave and that similar groups share.
The decision changes nothing: the caller carries it out.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from springtide.engine.capacity.balancing import Room, balance
from springtide.engine.capacity.batches import Batch
from springtide.engine.capacity.explain import LIMIT
from springtide.engine.capacity.options import Choice, Expander, Option, choose
from springtide.engine.capacity.scene import Candidate, Scene
from springtide.engine.simulation.templates import Template
from springtide.model.pod import Pod
from springtide.model.refusal import Refusal


def _limit(reason: str, detail: str = "") -> Refusal:
    return Refusal(rule=LIMIT, reasons=(reason,), detail=detail)


ATOMIC_EXCEEDS: Final = _limit("atomic scale-up exceeds cluster node count limit")
ALL_OR_NOTHING: Final = _limit(
    "not all pods would fit and scale-up is using all-or-nothing strategy"
)
FILTERED_OUT: Final = _limit("expansion options filtered out and no longer considered")


class Growth(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One group's part of the decision."""

    name: str
    size_before: int
    size_after: int

    @property
    def count(self) -> int:
        """Return how many nodes are added."""
        return self.size_after - self.size_before


class Remaining(msgspec.Struct, frozen=True, kw_only=True):
    """Pods that no group helps: what groups refuse that were asked, and why others were not."""

    batch: Batch
    rejected: tuple[tuple[str, Refusal], ...]
    skipped: tuple[tuple[str, Refusal], ...]


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """The answer. Without growths nothing is done.

    `triggered` are the pods that the growth is for, all those of the option even if it was cut;
    `awaiting` could use another group and wait for a later step. `skipped` says of every group
    that was not asked why.
    """

    options: tuple[Option, ...] = ()
    choice: Choice | None = None
    growths: tuple[Growth, ...] = ()
    triggered: tuple[Pod, ...] = ()
    awaiting: tuple[Pod, ...] = ()
    remaining: tuple[Remaining, ...] = ()
    skipped: tuple[tuple[str, Refusal], ...] = ()


def decide(scene: Scene, chain: Sequence[Expander]) -> Decision:
    """Return what to grow for the pods that wait."""
    return _Deciding(scene).run(chain)


def skip_reason(scene: Scene, candidate: Candidate) -> Refusal | None:
    """Return why the group is not asked, or None if it may grow."""
    group, size = candidate.group, candidate.size
    if candidate.closed is not None:
        return candidate.closed
    if size >= group.max_size:
        detail = f"{size} of at most {group.max_size} nodes"
        return _limit("max node group size reached", detail)
    least = group.max_size - size if group.is_zero_or_max else 1
    total_max = scene.bounds.nodes_total_max
    if group.is_zero_or_max and 0 < total_max < scene.node_count + least:
        return ATOMIC_EXCEEDS
    if isinstance(candidate.template, Refusal):
        return candidate.template
    allowance = scene.tracker.allowed(candidate.template, least)
    return allowance.refusal if allowance.count < least else None


class _Deciding:
    """One decision while it is made."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.skipped: dict[str, Refusal] = {}
        self.asked: dict[str, Candidate] = {}
        for candidate in scene.candidates:
            reason = skip_reason(scene, candidate)
            if reason is None:
                self.asked[candidate.group.name] = candidate
            else:
                self.skipped[candidate.group.name] = reason
        self.helped = {
            name: [batch for batch in scene.waiting if _verdict(candidate, batch) is None]
            for name, candidate in self.asked.items()
        }
        self.all_or_nothing = scene.manner.is_all_or_nothing

    def run(self, chain: Sequence[Expander]) -> Decision:
        found = [self._option(candidate) for candidate in self.asked.values()]
        options = tuple(option for option in found if option is not None)
        if not options:
            return self._nothing()
        choice = choose(options, chain)
        if choice.option is None or choice.option.node_count <= 0:
            return self._nothing(FILTERED_OUT, options=options, choice=choice)
        growths = self._growths(choice.option)
        if growths is None:
            return self._nothing(ALL_OR_NOTHING, options=options, choice=choice)
        return Decision(
            options=options,
            choice=choice,
            growths=growths,
            triggered=choice.option.estimate.placed,
            awaiting=self._awaiting(choice.option.group.name),
            remaining=self._remaining(None),
            skipped=tuple(self.skipped.items()),
        )

    def _option(self, candidate: Candidate) -> Option | None:
        group = candidate.group
        helped = self.helped[group.name]
        if not helped or isinstance(candidate.template, Refusal):
            return None
        similar = self._similar(candidate, candidate.template)
        answer = self.scene.estimator(candidate, helped, similar)
        pods = sum(len(batch.pods) for batch in self.scene.waiting)
        if not answer.node_count or (self.all_or_nothing and len(answer.placed) < pods):
            return None
        if self.all_or_nothing and group.is_zero_or_max and answer.node_count > group.max_size:
            return None
        return Option(
            group=group,
            template=candidate.template,
            estimate=answer,
            size=candidate.size,
            similar=tuple(each.group.name for each in similar),
        )

    def _similar(self, candidate: Candidate, template: Template) -> list[Candidate]:
        """Return which groups would share new nodes: those that help the same pods, and more."""
        similarity = self.scene.manner.similarity
        if similarity is None or candidate.group.is_zero_or_max:
            return []
        helped = {id(batch) for batch in self.helped[candidate.group.name]}
        return [
            other
            for name, other in self.asked.items()
            if other is not candidate
            and not other.group.is_zero_or_max
            and isinstance(other.template, Template)
            and helped <= {id(batch) for batch in self.helped[name]}
            and similarity.holds(template, other.template)
        ]

    # What limits leave

    def _growths(self, option: Option) -> tuple[Growth, ...] | None:
        """Return how the option is carried out, or None if all or nothing were nothing."""
        wanted = option.node_count
        count = min(wanted, self._cluster_room(wanted))
        count = self.scene.tracker.allowed(option.template, count).count
        if self.all_or_nothing and count < wanted:
            return None
        growths = self._shared(option, count)
        if self.all_or_nothing and sum(growth.count for growth in growths) < count:
            return None
        return growths

    def _cluster_room(self, wanted: int) -> int:
        total_max = self.scene.bounds.nodes_total_max
        return max(0, total_max - self.scene.node_count) if total_max else wanted

    def _shared(self, option: Option, count: int) -> tuple[Growth, ...]:
        rooms = [
            Room(name=name, size=self.asked[name].size, max_size=self.asked[name].group.max_size)
            for name in (option.group.name, *option.similar)
        ]
        tracker = self.scene.tracker.fork()
        growths = []
        for name, delta in balance(rooms, count):
            candidate = self.asked[name]
            assert isinstance(candidate.template, Template), name
            granted = tracker.allowed(candidate.template, delta).count
            if granted > 0:
                tracker.consume(candidate.template, granted)
                before = candidate.size
                growths.append(Growth(name=name, size_before=before, size_after=before + granted))
        return tuple(growths)

    # Who waits

    def _nothing(
        self,
        reason: Refusal | None = None,
        *,
        options: tuple[Option, ...] = (),
        choice: Choice | None = None,
    ) -> Decision:
        return Decision(
            options=options,
            choice=choice,
            remaining=self._remaining(reason),
            skipped=tuple(self.skipped.items()),
        )

    def _awaiting(self, best: str) -> tuple[Pod, ...]:
        return tuple(
            pod
            for batch in self.scene.waiting
            if self._is_helped(batch) and _verdict(self.asked[best], batch) is not None
            for pod in batch.pods
        )

    def _is_helped(self, batch: Batch) -> bool:
        return any(_verdict(candidate, batch) is None for candidate in self.asked.values())

    def _remaining(self, reason: Refusal | None) -> tuple[Remaining, ...]:
        """Return the pods that fit nowhere; with a reason, those too that would fit but for it."""
        return tuple(
            self._explained(batch, reason)
            for batch in self.scene.waiting
            if reason is not None or not self._is_helped(batch)
        )

    def _explained(self, batch: Batch, reason: Refusal | None) -> Remaining:
        rejected = {}
        for name, candidate in self.asked.items():
            refusal = _verdict(candidate, batch) or reason
            if refusal is not None:
                rejected[name] = refusal
        skipped = dict(self.skipped)
        if self.scene.manner.asks_skipped:
            for candidate in self.scene.candidates:
                name = candidate.group.name
                refusal = _verdict(candidate, batch) if name in skipped else None
                if refusal is not None:
                    rejected[name] = refusal
                    del skipped[name]
        return Remaining(
            batch=batch, rejected=tuple(rejected.items()), skipped=tuple(skipped.items())
        )


def _verdict(candidate: Candidate, batch: Batch) -> Refusal | None:
    return candidate.verdicts.get(batch.pod_class)
