"""What groups answer while a plan is made: whether new nodes would take a pod, how many, and why they may not grow.

Answers are kept as long as nothing that is placed can change them.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from springtide.engine.capacity.batches import Batch
from springtide.engine.capacity.course import Course
from springtide.engine.capacity.decision import skip_reason
from springtide.engine.capacity.estimate import Estimate, estimate
from springtide.engine.capacity.explain import LIMIT, GroupAnswer, Stuck, stuck
from springtide.engine.capacity.message import Rows, message
from springtide.engine.capacity.minimum import CLUSTER_FULL
from springtide.engine.capacity.scene import Candidate, Scene, limiter
from springtide.engine.capacity.situation import Situation, SizedGroup
from springtide.engine.capacity.start import Start, begin_all
from springtide.engine.framework.ask import reads_others
from springtide.engine.placement.beyond_quota import lacking
from springtide.engine.placement.classes import PodClass
from springtide.engine.placement.quota import Shortage
from springtide.engine.simulation.templates import Template
from springtide.model.overlay import Overlay
from springtide.model.pod import Pod
from springtide.model.refusal import Refusal

ROUNDS_MAX: Final = 1024
UNLIMITED: Final = Refusal(rule=LIMIT, reasons=())
"""What keeps a group from growing as long as nobody has asked."""


class Asking:
    """Asks the groups of a situation about pods, beside what a plan has placed so far."""

    def __init__(self, situation: Situation, overlay: Overlay, course: Course) -> None:
        self._situation = situation
        self._tables = situation.tables
        self._overlay = overlay
        self._course = course
        self._existing = overlay.ledger.count
        self.starts: dict[str, Start] = {}
        self._estimates: dict[tuple[object, ...], Estimate] = {}
        self.is_moving = _reads_others(situation) or self._share_devices()
        """Whether what a round places may change what nodes answer to the pods that are left."""
        self._limited = Counter(
            each for each in map(situation.classifier.classify, situation.pending) if each.quota
        )
        self.is_counted = bool(self._limited)
        """Whether what a round places may leave too little of a quota to the pods that are left."""

    def _share_devices(self) -> bool:
        """Return whether devices that one pod is given may decide about others on other nodes."""
        tables, classify = self._tables, self._situation.classifier.classify
        may_claim = (
            pod
            for pod in self._situation.pending
            if pod.spec.device_claims or tables.has_shared_devices
        )
        return any(tables.reads_elsewhere(classify(pod)) for pod in may_claim)

    def ask(self, pods: Iterable[Pod]) -> None:
        """Ask new nodes about the pods, as far as the answers are not known."""
        classes = dict.fromkeys(map(self._situation.classifier.classify, pods))
        if self.starts and not (self.is_moving or self.is_counted):
            known = next(iter(self.starts.values())).verdicts
            classes = dict.fromkeys(each for each in classes if each not in known)
            if not classes:
                return
        templates = [
            item.template for item in self._situation.groups if isinstance(item.template, Template)
        ]
        starts = begin_all(templates, self._tables, self._overlay, list(classes))
        if self.is_counted and not self.starts:
            # Only now it is known how large the devices of new nodes are.
            self.is_counted = self._tables.quotas_bind(self._limited.items())
        for start in starts:
            name = start.template.group.name
            known_before = self.starts[name].verdicts if name in self.starts else {}
            self.starts[name] = replace(start, verdicts={**known_before, **start.verdicts})

    def _verdict(self, item: SizedGroup, pod_class: PodClass) -> Refusal | None:
        if isinstance(item.template, Refusal):
            return item.template
        return self.starts[item.group.name].verdicts[pod_class]

    def forget(self) -> None:
        """Keep no estimates: they are known by their first pods, which holds within one placing."""
        self._estimates.clear()

    def scene(self, remaining: Sequence[Batch]) -> Scene:
        """Return what a decision goes by."""
        return Scene(
            candidates=self._candidates(),
            waiting=remaining,
            tracker=self._course.tracker,
            node_count=self._overlay.ledger.count,
            estimator=self._estimate,
            bounds=self._situation.bounds,
            manner=self._situation.manner,
        )

    def _candidates(self) -> list[Candidate]:
        return [self._candidate(item) for item in self._situation.groups]

    def _candidate(self, item: SizedGroup) -> Candidate:
        start = self.starts.get(item.group.name)
        return Candidate(
            group=item.group,
            size=self._course.sizes[item.group.name],
            template=item.template,
            verdicts={} if start is None else start.verdicts,
        )

    def _estimate(
        self, candidate: Candidate, helped: Sequence[Batch], similar: Sequence[Candidate]
    ) -> Estimate:
        bounds = self._situation.bounds
        # The same batches at the same sizes get the same answer, round after round.
        key = (
            *((each.group.name, each.size) for each in (candidate, *similar)),
            *((batch.first.uid, len(batch.pods)) for batch in helped),
        )
        known = self._estimates.get(key)
        is_lasting = not (bounds.nodes_total_max or self.is_moving or self.is_counted)
        if known is not None and is_lasting:
            return known
        count = self._overlay.ledger.count
        bounded = limiter(
            candidate, similar, bounds=bounds, node_count=count, clock=self._situation.clock
        )
        with self._overlay.trial():
            answer = estimate(helped, self.starts[candidate.group.name], bounded)
        self._estimates[key] = answer
        return answer

    def answers(self, pod_class: PodClass, limits: Mapping[str, Refusal]) -> list[GroupAnswer]:
        """Return what every group says to the class, and what keeps those that would do."""
        return [
            GroupAnswer(
                name=item.group.name,
                template=item.template,
                refusal=self._verdict(item, pod_class),
                limit=limits.get(item.group.name, UNLIMITED),
            )
            for item in self._situation.groups
        ]

    def stuck(self, batch: Batch, limits: Mapping[str, Refusal]) -> Stuck:
        """Return why pods have no place on any node, there or new."""
        pod_class, evictable = batch.pod_class, self._situation.evictable
        there = Rows(overlay=self._overlay, below=self._existing, evictable=evictable)
        return stuck(
            batch,
            self.answers(pod_class, limits),
            self._tables.histogram(pod_class, below=self._existing),
            message=message(batch.first, pod_class, tables=self._tables, there=there),
            shortages=self._shortages(pod_class),
        )

    def _shortages(self, pod_class: PodClass) -> tuple[Shortage, ...]:
        """Return what a quota lacks for pods that would fit a node that is there or may be added."""
        if not pod_class.quota:
            return ()
        growing = [each for each in self._candidates() if each.size < each.group.max_size]
        with self._overlay.trial():
            for each in growing:
                if each.group.name in self.starts:
                    start = self.starts[each.group.name]
                    start.add(start.template.node.name)
            return lacking(pod_class, self._tables)

    def limits(self, remaining: Sequence[Batch]) -> dict[str, Refusal]:
        """Return what keeps each group from growing now."""
        scene = self.scene(remaining)
        return {each.group.name: self._limit(scene, each) for each in scene.candidates}

    def _limit(self, scene: Scene, candidate: Candidate) -> Refusal:
        """Return what keeps the group from growing at the end."""
        skipped = skip_reason(scene, candidate)
        if skipped is not None:
            return skipped
        total_max = self._situation.bounds.nodes_total_max
        if 0 < total_max <= self._overlay.ledger.count:
            return CLUSTER_FULL
        reason = "time limit of the estimate reached"
        if self._course.is_cut_off:
            reason = f"a plan takes at most {ROUNDS_MAX} steps"
        elif candidate.group.name in self._course.rejected:
            reason = self._course.rejected[candidate.group.name]
        return Refusal(rule=LIMIT, reasons=(reason,))


def _reads_others(situation: Situation) -> bool:
    """Return whether a rule of any pod reads others that the plan may add, new nodes' own included."""
    templates = [item.template for item in situation.groups if isinstance(item.template, Template)]
    classes = map(situation.classifier.classify, situation.pending)
    return any(each.framework.reads_others for each in classes) or reads_others(
        pod.spec for template in templates for pod in template.pods
    )
