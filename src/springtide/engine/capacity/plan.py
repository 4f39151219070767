"""The plan: which groups to grow, by how many nodes, so that pending pods can run.

First the pods that fit existing nodes are placed there. Then, round by round, every group that may
grow is asked how many of the remaining pods its next nodes would take; expanders choose the best;
its nodes and pods join the picture; what is left goes into the next round, until no group helps.
The caller's ledger is as it was afterwards.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec.structs import replace

from springtide.engine.capacity.batches import Batch, batches
from springtide.engine.capacity.carrying import Carried, Picture, carry_out, carry_up
from springtide.engine.capacity.decision import Growth, decide, skip_reason
from springtide.engine.capacity.estimate import Estimate, NewNode, estimate
from springtide.engine.capacity.explain import LIMIT, GroupAnswer, Stuck, objections, stuck
from springtide.engine.capacity.message import Rows, message
from springtide.engine.capacity.minimum import CLUSTER_FULL, at_least, raised
from springtide.engine.capacity.options import Expander
from springtide.engine.capacity.quotas import tracked
from springtide.engine.capacity.scene import Candidate, Scene, limiter
from springtide.engine.capacity.schedulable import fill
from springtide.engine.capacity.situation import Plan, Situation, SizedGroup, Step
from springtide.engine.capacity.start import Start, begin_all
from springtide.engine.framework.ask import reads_others
from springtide.engine.placement.classes import PodClass
from springtide.engine.simulation.templates import Template
from springtide.model.overlay import Overlay
from springtide.model.pod import Pod
from springtide.model.refusal import Refusal

ROUNDS_MAX: Final = 1024
SHUT_OUT: Final = "new nodes that come up together take none of the pods"
UNLIMITED: Final = Refusal(rule=LIMIT, reasons=())
"""What keeps a group from growing as long as nobody has asked."""


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
        self.names: list[tuple[str, ...]] = []
        self.placed: dict[str, list[Pod]] = {}
        self.rejected: dict[str, str] = {}
        self.limits: dict[str, Refusal] = {}
        self.elsewhere: list[tuple[Pod, str]] = []
        self.short: tuple[tuple[str, Refusal], ...] = ()
        self.is_cut_off = False
        self.is_moving = _reads_others(situation) or self._share_devices()
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
        progress, pending = self.situation.progress, self.situation.pending
        filled = fill(pending, self.tables, self.overlay, classifier, progress=progress)
        self.existing = self.overlay.ledger.count
        self._ask_templates(filled.left)
        objected = objections(
            [(batch, self._answers(batch.pod_class)) for batch in batches(filled.left, classifier)]
        )
        left = filled.left
        for round_number in range(ROUNDS_MAX):
            progress.begin(f"Planning: step {round_number + 1}")
            progress.placed(len(pending) - len(left), len(pending))
            if round_number and self.is_moving:
                # What the last round placed may repel or attract what is left, or even out how
                # pods are spread, so that there is room again.
                left = self._refill(left)
                self._ask_templates(left)
            done = self._grow(batches(left, classifier))
            if done is None:
                break
            left = tuple(pod for pod in left if pod.uid not in done)
        else:
            self.is_cut_off = True
        if self.situation.manner.raises_to_minimum:
            left = self._raise(left)
        progress.begin("Explaining what fits nowhere")
        remaining = batches(left, classifier)
        scene = self._scene(remaining)
        self.limits = {
            candidate.group.name: self._limit(scene, candidate) for candidate in scene.candidates
        }
        return Plan(
            fitting=(*filled.placed, *self.elsewhere),
            steps=tuple(map(self._finished, self.steps, self.names)),
            stuck=tuple(map(self._stuck, remaining)),
            objections=objected,
            sizes=tuple(
                (item.group.name, item.size, self.sizes[item.group.name])
                for item in self.situation.groups
            ),
            short=self.short,
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
        if 0 < total_max <= self.overlay.ledger.count:
            return CLUSTER_FULL
        reason = "time limit of the estimate reached"
        if self.is_cut_off:
            reason = f"a plan takes at most {ROUNDS_MAX} steps"
        elif candidate.group.name in self.rejected:
            reason = self.rejected[candidate.group.name]
        return Refusal(rule=LIMIT, reasons=(reason,))

    # Growing

    def _grow(self, remaining: Sequence[Batch]) -> set[str] | None:
        """Grow what is best for the pods and return which of them it serves, or None."""
        scene = self._scene(remaining)
        decision = decide(scene, self.chain)
        choice = decision.choice
        if choice is None or choice.option is None or not decision.growths:
            self.rejected = {o.group.name: why for o, why in (choice.rejected if choice else ())}
            return None
        best = choice.option.group.name
        # What the estimate found goes onto nodes of its own group first.
        growths = sorted(at_least(decision.growths, scene), key=lambda growth: growth.name != best)
        waiting = [pod for batch in remaining for pod in batch.pods]
        together = self.is_moving and len(growths) > 1
        self.overlay.fork()
        carried = carry_out(growths, decision, waiting, self._picture(), together=together)
        if not carried.pods:
            self.overlay.revert()
            self.rejected = {option.group.name: SHUT_OUT for option in decision.options}
            return None
        self.overlay.commit()
        rejected = tuple((option.group.name, why) for option, why in choice.rejected)
        sharing = f"shares what {best} would get, being similar to it"
        for growth in growths:
            if growth.name == best:
                self._record(growth, why=choice.why, rejected=rejected)
            else:
                self._record(growth, why=sharing)
        return self._note(carried)

    def _refill(self, left: tuple[Pod, ...]) -> tuple[Pod, ...]:
        """Place pods wherever there is room by now, and return those without a node."""
        filled = fill(left, self.tables, self.overlay, self.situation.classifier)
        for pod, name in filled.placed:
            if name in self.placed:
                self.placed[name].append(pod)
            else:
                self.elsewhere.append((pod, name))
        return filled.left

    def _raise(self, left: tuple[Pod, ...]) -> tuple[Pod, ...]:
        """Raise groups to their minimum sizes and return the pods that still fit nowhere."""
        found = raised(self._scene(batches(left, self.situation.classifier)))
        self.short = found.short
        carried = carry_up(found.growths, left, self._picture())
        for growth in found.growths:
            group = self._item(growth.name).group
            why = f"raised to its minimum size of {group.min_size}"
            self._record(growth, why=why, is_raise=True)
        done = self._note(carried)
        return tuple(pod for pod in left if pod.uid not in done)

    def _picture(self) -> Picture:
        return Picture(
            tables=self.tables,
            overlay=self.overlay,
            classifier=self.situation.classifier,
            starts=self.starts,
        )

    def _item(self, name: str) -> SizedGroup:
        return next(item for item in self.situation.groups if item.group.name == name)

    def _record(
        self,
        growth: Growth,
        *,
        why: str,
        rejected: tuple[tuple[str, str], ...] = (),
        is_raise: bool = False,
    ) -> None:
        item = self._item(growth.name)
        assert isinstance(item.template, Template)
        self.tracker.consume(item.template, growth.count)
        self.sizes[growth.name] = growth.size_after
        self.steps.append(
            Step(
                group=item.group,
                size_before=growth.size_before,
                size_after=growth.size_after,
                nodes=(),
                why=why,
                rejected=rejected,
                is_raise=is_raise,
            )
        )

    def _note(self, carried: Carried) -> set[str]:
        """Remember who went where, and return the pods that have a node now."""
        self.names.extend(carried.names)
        self.placed |= carried.placed
        self.elsewhere.extend(carried.moved)
        return carried.pods

    def _finished(self, step: Step, names: Iterable[str]) -> Step:
        """Return the step with those of its nodes that got pods, then or later."""
        served = (NewNode(name, tuple(self.placed[name])) for name in names if self.placed[name])
        return replace(step, nodes=tuple(served))


def _reads_others(situation: Situation) -> bool:
    """Return whether a rule of any pod reads others that the plan may add, new nodes' own included."""
    templates = [item.template for item in situation.groups if isinstance(item.template, Template)]
    classes = map(situation.classifier.classify, situation.pending)
    return any(each.framework.reads_others for each in classes) or reads_others(
        pod.spec for template in templates for pod in template.pods
    )
