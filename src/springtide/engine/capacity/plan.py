"""The plan: which groups to grow, by how many nodes, so that pending pods can run.

First the pods that fit existing nodes are placed there. Then, round by round, every group that may
grow is asked how many of the remaining pods its next nodes would take; expanders choose the best;
its nodes and pods join the picture; what is left goes into the next round, until no group helps.
The caller's ledger is as it was afterwards.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import partial
from typing import Final

from msgspec.structs import replace

from springtide.engine.capacity.batches import Batch, batches
from springtide.engine.capacity.carrying import Carried, Picture, carry_out, carry_up
from springtide.engine.capacity.course import Course
from springtide.engine.capacity.decision import Growth, decide, skip_reason
from springtide.engine.capacity.estimate import Estimate, NewNode, estimate
from springtide.engine.capacity.explain import (
    LIMIT,
    GroupAnswer,
    Objections,
    Stuck,
    objections,
    stuck,
)
from springtide.engine.capacity.limits import Limiter
from springtide.engine.capacity.message import Rows, message
from springtide.engine.capacity.minimum import CLUSTER_FULL, at_least, raised
from springtide.engine.capacity.options import Expander
from springtide.engine.capacity.quotas import tracked
from springtide.engine.capacity.scene import Candidate, Scene, limiter
from springtide.engine.capacity.schedulable import fill
from springtide.engine.capacity.situation import GangAnswer, Plan, Situation, SizedGroup, Step
from springtide.engine.capacity.start import Start, begin_all
from springtide.engine.framework.ask import reads_others
from springtide.engine.gang.ground import likeness
from springtide.engine.gang.settling import Settled, settle, settle_more
from springtide.engine.gang.shortfall import Shortfall, explained
from springtide.engine.gang.tally import tally
from springtide.engine.placement.beyond_quota import lacking
from springtide.engine.placement.classes import PodClass
from springtide.engine.placement.quota import Shortage
from springtide.engine.simulation.templates import Template
from springtide.model.gang import Gang
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
        self.progress = situation.progress
        self.overlay = Overlay(self.tables.ledger)
        self.existing = self.overlay.ledger.count
        self.starts: dict[str, Start] = {}
        self.estimates: dict[tuple[object, ...], Estimate] = {}
        self.course = Course(
            self.overlay,
            tracked(self.tables.ledger, situation.bounds.quotas),
            {item.group.name: item.size for item in situation.groups},
        )
        self.objected: Objections | None = None
        self.short: tuple[tuple[str, Refusal], ...] = ()
        self.is_moving = _reads_others(situation) or self._share_devices()
        """Whether what a round places may change what nodes answer to the pods that are left."""
        self.limited = Counter(
            each for each in map(situation.classifier.classify, situation.pending) if each.quota
        )
        self.is_counted = bool(self.limited)
        """Whether what a round places may leave too little of a quota to the pods that are left."""

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
        settled = settle(self.situation.pending, self.situation.gangs, self)
        if self.situation.manner.raises_to_minimum:
            settled = self._raise(settled)
        self._ask_templates((*settled.left, *(pod for gang in settled.unmet for pod in gang.pods)))
        gangs = self._gangs(settled)
        self.progress.begin("Explaining what fits nowhere")
        remaining = batches(settled.left, self.situation.classifier)
        limits = self._limits(remaining)
        served = self.course.served()
        return Plan(
            fitting=self.course.fitting,
            steps=tuple(_finished(step, names, served) for step, names in self.course.steps),
            stuck=tuple(self._stuck(batch, limits) for batch in remaining),
            objections=self.objected or (),
            sizes=tuple(
                (item.group.name, item.size, self.course.sizes[item.group.name])
                for item in self.situation.groups
            ),
            short=self.short,
            gangs=gangs,
        )

    # The ground that pods and gangs are placed on

    def place(self, pods: Sequence[Pod]) -> tuple[Pod, ...]:
        """Fill the nodes that are there by now, then grow groups round by round."""
        classifier = self.situation.classifier
        # An estimate is known by its first pods and their number, which holds within one placing.
        self.estimates.clear()
        left = self._fill(pods)
        self._ask_templates(left)
        if self.objected is None:
            asked = [
                (each, self._answers(each.pod_class, {})) for each in batches(left, classifier)
            ]
            self.objected = objections(asked)
        for round_number in range(ROUNDS_MAX):
            self.progress.begin(f"Planning: step {round_number + 1}")
            self.progress.placed(len(pods) - len(left), len(pods))
            if round_number and self.is_moving:
                # What the last round placed may repel or attract what is left, or even out how
                # pods are spread, so that there is room again.
                left = self._fill(left)
            if round_number and (self.is_moving or self.is_counted):
                self._ask_templates(left)
            done = self._grow(batches(left, classifier))
            if done is None:
                return left
            left = tuple(pod for pod in left if pod.uid not in done)
        self.course.is_cut_off = True
        return left

    def likeness(self, pod: Pod) -> PodClass:
        """Return the pod's class."""
        return self.situation.classifier.classify(pod)

    def fork(self) -> None:
        """Open a level that can be reverted or committed."""
        self.course.fork()

    def revert(self) -> None:
        """Undo everything since the last fork."""
        self.course.revert()

    def commit(self) -> None:
        """Keep everything since the last fork."""
        self.course.commit()

    # Asking

    def _ask_templates(self, pods: Iterable[Pod]) -> None:
        """Ask new nodes about the pods, as far as the answers are not known."""
        classes = dict.fromkeys(map(self.situation.classifier.classify, pods))
        if self.starts and not (self.is_moving or self.is_counted):
            known = next(iter(self.starts.values())).verdicts
            classes = dict.fromkeys(each for each in classes if each not in known)
            if not classes:
                return
        templates = [
            item.template for item in self.situation.groups if isinstance(item.template, Template)
        ]
        starts = begin_all(templates, self.tables, self.overlay, list(classes))
        if self.is_counted and not self.starts:
            # Only now it is known how large the devices of new nodes are.
            self.is_counted = self.tables.quotas_bind(self.limited.items())
        for start in starts:
            name = start.template.group.name
            known_before = self.starts[name].verdicts if name in self.starts else {}
            self.starts[name] = replace(start, verdicts={**known_before, **start.verdicts})

    def _verdict(self, item: SizedGroup, pod_class: PodClass) -> Refusal | None:
        if isinstance(item.template, Refusal):
            return item.template
        return self.starts[item.group.name].verdicts[pod_class]

    def _scene(self, remaining: Sequence[Batch]) -> Scene:
        return Scene(
            candidates=self._candidates(),
            waiting=remaining,
            tracker=self.course.tracker,
            node_count=self.overlay.ledger.count,
            estimator=self._estimate,
            bounds=self.situation.bounds,
            manner=self.situation.manner,
        )

    def _candidates(self) -> list[Candidate]:
        return [self._candidate(item) for item in self.situation.groups]

    def _candidate(self, item: SizedGroup) -> Candidate:
        start = self.starts.get(item.group.name)
        return Candidate(
            group=item.group,
            size=self.course.sizes[item.group.name],
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
        is_lasting = not (bounds.nodes_total_max or self.is_moving or self.is_counted)
        if known is not None and is_lasting:
            return known
        count = self.overlay.ledger.count
        bounded = limiter(
            candidate, similar, bounds=bounds, node_count=count, clock=self.situation.clock
        )
        with self.overlay.trial():
            answer = estimate(helped, self.starts[candidate.group.name], bounded)
        self.estimates[key] = answer
        return answer

    def _answers(self, pod_class: PodClass, limits: Mapping[str, Refusal]) -> list[GroupAnswer]:
        """Return what every group says to the class, and what keeps those that would do."""
        return [
            GroupAnswer(
                name=item.group.name,
                template=item.template,
                refusal=self._verdict(item, pod_class),
                limit=limits.get(item.group.name, UNLIMITED),
            )
            for item in self.situation.groups
        ]

    def _stuck(self, batch: Batch, limits: Mapping[str, Refusal]) -> Stuck:
        pod_class, evictable = batch.pod_class, self.situation.evictable
        there = Rows(overlay=self.overlay, below=self.existing, evictable=evictable)
        return stuck(
            batch,
            self._answers(pod_class, limits),
            self.tables.histogram(pod_class, below=self.existing),
            message=message(batch.first, pod_class, tables=self.tables, there=there),
            shortages=self._shortages(pod_class),
        )

    def _shortages(self, pod_class: PodClass) -> tuple[Shortage, ...]:
        """Return what a quota lacks for pods that would fit a node that is there or may be added."""
        if not pod_class.quota:
            return ()
        growing = [each for each in self._candidates() if each.size < each.group.max_size]
        with self.overlay.trial():
            for each in growing:
                if each.group.name in self.starts:
                    start = self.starts[each.group.name]
                    start.add(start.template.node.name)
            return lacking(pod_class, self.tables)

    def _limits(self, remaining: Sequence[Batch]) -> dict[str, Refusal]:
        """Return what keeps each group from growing now."""
        scene = self._scene(remaining)
        return {each.group.name: self._limit(scene, each) for each in scene.candidates}

    def _limit(self, scene: Scene, candidate: Candidate) -> Refusal:
        """Return what keeps the group from growing at the end."""
        skipped = skip_reason(scene, candidate)
        if skipped is not None:
            return skipped
        total_max = self.situation.bounds.nodes_total_max
        if 0 < total_max <= self.overlay.ledger.count:
            return CLUSTER_FULL
        reason = "time limit of the estimate reached"
        if self.course.is_cut_off:
            reason = f"a plan takes at most {ROUNDS_MAX} steps"
        elif candidate.group.name in self.course.rejected:
            reason = self.course.rejected[candidate.group.name]
        return Refusal(rule=LIMIT, reasons=(reason,))

    # Growing

    def _grow(self, remaining: Sequence[Batch]) -> set[str] | None:
        """Grow what is best for the pods and return which of them it serves, or None."""
        scene = self._scene(remaining)
        decision = decide(scene, self.chain)
        choice = decision.choice
        if choice is None or choice.option is None or not decision.growths:
            self.course.rejected = {
                o.group.name: why for o, why in (choice.rejected if choice else ())
            }
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
            self.course.rejected = {option.group.name: SHUT_OUT for option in decision.options}
            return None
        self.overlay.commit()
        rejected = tuple((option.group.name, why) for option, why in choice.rejected)
        sharing = f"shares what {best} would get, being similar to it"
        for growth, names in zip(growths, carried.names, strict=True):
            if growth.name == best:
                self._record(growth, names, why=choice.why, rejected=rejected)
            else:
                self._record(growth, names, why=sharing)
        return self._note(carried)

    def _fill(self, pods: Sequence[Pod]) -> tuple[Pod, ...]:
        """Place pods wherever there is room by now, and return those without a node."""
        classifier, progress = self.situation.classifier, self.progress
        filled = fill(pods, self.tables, self.overlay, classifier, progress=progress)
        self.course.place(filled.placed)
        return filled.left

    def _raise(self, settled: Settled) -> Settled:
        """Raise groups to their minimum sizes and return what still gets no place."""
        left = settled.left
        found = raised(self._scene(batches(left, self.situation.classifier)))
        self.short = found.short
        carried = carry_up(found.growths, left, self._picture())
        for growth, names in zip(found.growths, carried.names, strict=True):
            group = self._item(growth.name).group
            why = f"raised to its minimum size of {group.min_size}"
            self._record(growth, names, why=why, is_raise=True)
        done = self._note(carried)
        settled = replace(settled, left=tuple(pod for pod in left if pod.uid not in done))
        return settle_more(settled, self) if found.growths else settled

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
        names: tuple[str, ...],
        *,
        why: str,
        rejected: tuple[tuple[str, str], ...] = (),
        is_raise: bool = False,
    ) -> None:
        item = self._item(growth.name)
        assert isinstance(item.template, Template)
        self.course.tracker.consume(item.template, growth.count)
        step = Step(
            group=item.group,
            size_before=growth.size_before,
            size_after=growth.size_after,
            nodes=(),
            why=why,
            rejected=rejected,
            is_raise=is_raise,
        )
        self.course.add_step(step, names)

    def _note(self, carried: Carried) -> set[str]:
        """Remember who went where, and return the pods that have a node now."""
        self.course.place((pod, name) for name, pods in carried.placed.items() for pod in pods)
        self.course.place(carried.moved)
        return carried.pods

    # Gangs

    def _gangs(self, settled: Settled) -> tuple[GangAnswer, ...]:
        """Return what becomes of every gang; those alike lack the same."""
        unmet = {gang.identity for gang in settled.unmet}
        left = {pod.uid for pod in settled.left}
        known: dict[Hashable, GangAnswer] = {}
        answers = []
        for gang in self.situation.gangs:
            if gang.identity not in unmet:
                answers.append(GangAnswer(gang=gang, tally=tally(gang, left), is_met=True))
                continue
            alike = (gang.minimum, likeness(gang, self))
            if alike not in known:
                known[alike] = explained(
                    gang, self, partial(self._lack, gang, dict(self.course.sizes))
                )
            answers.append(replace(known[alike], gang=gang))
        return tuple(answers)

    def _lack(self, gang: Gang, sizes: Mapping[str, int], lack: Shortfall) -> GangAnswer:
        """Return why the gang falls short, while those of its pods that fit have their places."""
        answer = GangAnswer(gang=gang, tally=lack.tally, is_met=False)
        if not lack.left:
            return answer
        self._ask_templates(lack.left)
        remaining = batches(lack.left, self.situation.classifier)
        obstacle = self._stuck(remaining[0], self._limits(remaining))
        answer = replace(answer, obstacle=obstacle)
        name, refusal = obstacle.closest, dict(obstacle.on_groups).get(obstacle.closest)
        if refusal is None or refusal.rule != LIMIT or name not in self.starts:
            return answer
        missing = lack.left[: lack.tally.missing]
        with self.overlay.trial():
            more = estimate(
                batches(missing, self.situation.classifier),
                self.starts[name],
                Limiter((), self.situation.clock),
            )
        allowed = self.course.sizes[name] - sizes[name]
        needed = allowed + more.node_count if not more.left else 0
        return replace(answer, nodes_needed=needed, nodes_allowed=allowed if needed else 0)


def _finished(step: Step, names: Iterable[str], served: Mapping[str, Sequence[Pod]]) -> Step:
    """Return the step with those of its nodes that got pods, then or later."""
    return replace(
        step, nodes=tuple(NewNode(name, tuple(served[name])) for name in names if name in served)
    )


def _reads_others(situation: Situation) -> bool:
    """Return whether a rule of any pod reads others that the plan may add, new nodes' own included."""
    templates = [item.template for item in situation.groups if isinstance(item.template, Template)]
    classes = map(situation.classifier.classify, situation.pending)
    return any(each.framework.reads_others for each in classes) or reads_others(
        pod.spec for template in templates for pod in template.pods
    )
