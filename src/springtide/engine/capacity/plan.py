"""The plan: which groups to grow, by how many nodes, so that pending pods can run.

First the pods that fit existing nodes are placed there. Then, round by round, every group that may
grow is asked how many of the remaining pods its next nodes would take; expanders choose the best;
its nodes and pods join the picture; what is left goes into the next round, until no group helps.
The caller's ledger is as it was afterwards.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from springtide.base.clock import Clock
from springtide.engine.capacity.batches import Batch, batches
from springtide.engine.capacity.carrying import Picture, carry_out
from springtide.engine.capacity.decision import Decision, Growth, decide, skip_reason
from springtide.engine.capacity.estimate import Estimate, NewNode, estimate
from springtide.engine.capacity.explain import LIMIT, GroupAnswer, Stuck, objections, stuck
from springtide.engine.capacity.message import Rows, message
from springtide.engine.capacity.options import Expander
from springtide.engine.capacity.quotas import tracked
from springtide.engine.capacity.scene import Bounds, Candidate, Manner, Scene, limiter
from springtide.engine.capacity.schedulable import fill
from springtide.engine.capacity.start import Start, begin_all
from springtide.engine.framework.ask import reads_others
from springtide.engine.placement.classes import Classifier, PodClass
from springtide.engine.placement.tables import Tables
from springtide.engine.preemption import Evictable, Residents
from springtide.engine.simulation.templates import Template
from springtide.model.group import NodeGroup
from springtide.model.overlay import Overlay
from springtide.model.pod import Pod, PodSpec
from springtide.model.refusal import Refusal

ROUNDS_MAX: Final = 256
UNLIMITED: Final = Refusal(rule=LIMIT, reasons=())
"""What keeps a group from growing as long as nobody has asked."""


class SizedGroup(msgspec.Struct, frozen=True, kw_only=True):
    """A group with the number of nodes it has, and its template or why there is none."""

    group: NodeGroup
    size: int
    template: Template | Refusal


class Situation(msgspec.Struct, frozen=True, kw_only=True):
    """What a plan is made from. No pod is counted on to go; `evictable` is only talked about."""

    tables: Tables
    classifier: Classifier
    pending: Sequence[Pod]
    groups: Sequence[SizedGroup]
    clock: Clock
    bounds: Bounds = Bounds()
    manner: Manner = Manner()
    evictable: Evictable = Evictable(residents=Residents())


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One growth: the group, its size before and after, who goes where, and why this group."""

    group: NodeGroup
    size_before: int
    size_after: int
    nodes: tuple[NewNode, ...]
    why: str
    rejected: tuple[tuple[str, str], ...]


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """The answer. `objections` says of every group which pods it refuses, counted per reason."""

    fitting: tuple[tuple[Pod, str], ...]
    steps: tuple[Step, ...]
    stuck: tuple[Stuck, ...]
    objections: tuple[tuple[str, tuple[tuple[Refusal, int], ...]], ...]
    sizes: tuple[tuple[str, int, int], ...]


def plan(situation: Situation, chain: Sequence[Expander]) -> Plan:
    """Return the plan; nothing of it stays in the ledger."""
    planner = _Planner(situation, chain)
    with planner.overlay.trial():
        return planner.run()


class _Planner:
    """The state of one plan while its rounds run."""

    def __init__(self, situation: Situation, chain: Sequence[Expander]) -> None:
        self.situation = situation
        self.chain = chain
        self.tables = situation.tables
        self.overlay = Overlay(self.tables.ledger)
        self.sizes = {item.group.name: item.size for item in situation.groups}
        self.starts: dict[str, Start] = {}
        self.tracker = tracked(self.tables.ledger, situation.bounds.quotas)
        self.estimates: dict[tuple[object, ...], Estimate] = {}
        self.steps: list[Step] = []
        self.rejected: dict[str, str] = {}
        self.limits: dict[str, Refusal] = {}
        self.elsewhere: list[tuple[Pod, str]] = []
        self.is_moving = reads_others(_joining(situation)) or self._share_devices()
        """Whether what a round places may change what nodes answer to the pods that are left."""

    def _share_devices(self) -> bool:
        """Return whether devices that one pod is given may decide about others on other nodes."""
        tables, classify = self.tables, self.situation.classifier.classify
        may_claim = (
            pod
            for pod in self.situation.pending
            if pod.spec.device_claims or tables.has_shared_devices
        )
        return any(tables.reads_elsewhere(classify(pod)) for pod in may_claim)

    def run(self) -> Plan:
        """Fill existing nodes, grow groups round by round, and explain the rest."""
        classifier = self.situation.classifier
        filled = fill(self.situation.pending, self.tables, self.overlay, classifier)
        self.existing = self.overlay.ledger.count
        self._ask_templates(filled.left)
        objected = objections(
            [(batch, self._answers(batch.pod_class)) for batch in batches(filled.left, classifier)]
        )
        left = filled.left
        for round_number in range(ROUNDS_MAX):
            if round_number and self.is_moving:
                # What the last round placed may repel or attract what is left.
                self._ask_templates(left)
            done = self._grow(batches(left, classifier))
            if done is None:
                break
            left = tuple(pod for pod in left if pod.uid not in done)
        remaining = batches(left, classifier)
        scene = self._scene(remaining)
        self.limits = {
            candidate.group.name: self._limit(scene, candidate) for candidate in scene.candidates
        }
        return Plan(
            fitting=(*filled.placed, *self.elsewhere),
            steps=tuple(self.steps),
            stuck=tuple(map(self._stuck, remaining)),
            objections=objected,
            sizes=tuple(
                (item.group.name, item.size, self.sizes[item.group.name])
                for item in self.situation.groups
            ),
        )

    # Asking

    def _ask_templates(self, pods: Iterable[Pod]) -> None:
        classes = list(dict.fromkeys(map(self.situation.classifier.classify, pods)))
        templates = [
            item.template for item in self.situation.groups if isinstance(item.template, Template)
        ]
        starts = begin_all(templates, self.tables, self.overlay, classes)
        self.starts = {start.template.group.name: start for start in starts}

    def _verdict(self, item: SizedGroup, pod_class: PodClass) -> Refusal | None:
        if isinstance(item.template, Refusal):
            return item.template
        return self.starts[item.group.name].verdicts[pod_class]

    def _scene(self, remaining: Sequence[Batch]) -> Scene:
        return Scene(
            candidates=[self._candidate(item) for item in self.situation.groups],
            waiting=remaining,
            tracker=self.tracker,
            node_count=self.overlay.ledger.count,
            estimator=self._estimate,
            bounds=self.situation.bounds,
            manner=self.situation.manner,
        )

    def _candidate(self, item: SizedGroup) -> Candidate:
        start = self.starts.get(item.group.name)
        return Candidate(
            group=item.group,
            size=self.sizes[item.group.name],
            template=item.template,
            verdicts={} if start is None else start.verdicts,
        )

    def _estimate(
        self, candidate: Candidate, helped: Sequence[Batch], similar: Sequence[Candidate]
    ) -> Estimate:
        bounds = self.situation.bounds
        # The same batches at the same sizes get the same answer, round after round.
        key = (
            *((each.group.name, each.size) for each in (candidate, *similar)),
            *((batch.first.uid, len(batch.pods)) for batch in helped),
        )
        known = self.estimates.get(key)
        if known is not None and not bounds.nodes_total_max and not self.is_moving:
            return known
        count = self.overlay.ledger.count
        bounded = limiter(
            candidate, similar, bounds=bounds, node_count=count, clock=self.situation.clock
        )
        with self.overlay.trial():
            answer = estimate(helped, self.starts[candidate.group.name], bounded)
        self.estimates[key] = answer
        return answer

    def _answers(self, pod_class: PodClass) -> list[GroupAnswer]:
        """Return what every group says to the class, and what keeps those that would do."""
        return [
            GroupAnswer(
                name=item.group.name,
                template=item.template,
                refusal=self._verdict(item, pod_class),
                limit=self.limits.get(item.group.name, UNLIMITED),
            )
            for item in self.situation.groups
        ]

    def _stuck(self, batch: Batch) -> Stuck:
        pod_class, evictable = batch.pod_class, self.situation.evictable
        there = Rows(overlay=self.overlay, below=self.existing, evictable=evictable)
        return stuck(
            batch,
            self._answers(pod_class),
            self.tables.histogram(pod_class, below=self.existing),
            message=message(batch.first, pod_class, tables=self.tables, there=there),
        )

    def _limit(self, scene: Scene, candidate: Candidate) -> Refusal:
        """Return what keeps the group from growing at the end."""
        skipped = skip_reason(scene, candidate)
        if skipped is not None:
            return skipped
        total_max = self.situation.bounds.nodes_total_max
        reason = "time limit of the estimate reached"
        if 0 < total_max <= self.overlay.ledger.count:
            reason = "max total nodes in cluster reached"
        elif candidate.group.name in self.rejected:
            reason = self.rejected[candidate.group.name]
        return Refusal(rule=LIMIT, reasons=(reason,))

    # Growing

    def _grow(self, remaining: Sequence[Batch]) -> set[str] | None:
        """Grow what is best for the pods and return which of them it serves, or None."""
        decision = decide(self._scene(remaining), self.chain)
        choice = decision.choice
        if choice is None or choice.option is None or not decision.growths:
            self.rejected = {o.group.name: why for o, why in (choice.rejected if choice else ())}
            return None
        best = choice.option.group.name
        # What the estimate found goes onto nodes of its own group first.
        growths = sorted(
            map(self._at_least, decision.growths), key=lambda growth: growth.name != best
        )
        waiting = [pod for batch in remaining for pod in batch.pods]
        served, moved = carry_out(growths, decision, waiting, self._picture())
        self.elsewhere.extend(moved)
        for growth, nodes in zip(growths, served, strict=True):
            self._record(growth, nodes, decision)
        new = (pod for nodes in served for node in nodes for pod in node.pods)
        return {pod.uid for pod in (*new, *(pod for pod, _ in moved))}

    def _at_least(self, growth: Growth) -> Growth:
        """Return the growth up to the smallest size that its group may have, as limits allow."""
        group, template = self._item(growth.name).group, self._item(growth.name).template
        missing = group.min_size - growth.size_after
        if missing <= 0 or isinstance(template, Refusal):
            return growth
        wanted = growth.count + missing
        total_max = self.situation.bounds.nodes_total_max
        room = total_max - self.overlay.ledger.count if total_max else wanted
        allowed = self.tracker.allowed(template, min(wanted, room)).count
        extra = min(missing, allowed - growth.count)
        return replace(growth, size_after=growth.size_after + max(0, extra))

    def _picture(self) -> Picture:
        return Picture(
            tables=self.tables,
            overlay=self.overlay,
            classifier=self.situation.classifier,
            starts=self.starts,
        )

    def _item(self, name: str) -> SizedGroup:
        return next(item for item in self.situation.groups if item.group.name == name)

    def _record(self, growth: Growth, nodes: tuple[NewNode, ...], decision: Decision) -> None:
        choice, item = decision.choice, self._item(growth.name)
        assert choice is not None
        assert choice.option is not None
        assert isinstance(item.template, Template)
        self.tracker.consume(item.template, growth.count)
        self.sizes[growth.name] = growth.size_after
        best = choice.option.group.name
        is_best = growth.name == best
        rejected = [(option.group.name, why) for option, why in choice.rejected]
        self.steps.append(
            Step(
                group=item.group,
                size_before=growth.size_before,
                size_after=growth.size_after,
                nodes=nodes,
                why=choice.why if is_best else f"shares what {best} would get, being similar to it",
                rejected=tuple(rejected) if is_best else (),
            )
        )


def _joining(situation: Situation) -> list[PodSpec]:
    """Return the specs of all pods that a plan may add, those of new nodes included."""
    templates = [item.template for item in situation.groups if isinstance(item.template, Template)]
    own = [pod.spec for template in templates for pod in template.pods]
    return [*own, *(pod.spec for pod in situation.pending)]
