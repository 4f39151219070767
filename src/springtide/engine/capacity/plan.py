"""The plan: which groups to grow, by how many nodes, so that pending pods can run.

First the pods that fit existing nodes are placed there. Then, round by round, every group that may
grow is asked how many of the remaining pods its next nodes would take; expanders choose the best;
its nodes and pods join the picture; what is left goes into the next round, until no group helps.
The caller's ledger is as it was afterwards.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import partial
from typing import Final

from msgspec.structs import replace

from springtide.engine.capacity.asking import ROUNDS_MAX, Asking
from springtide.engine.capacity.batches import Batch, batches
from springtide.engine.capacity.carrying import Carried, Picture, carry_out, carry_up
from springtide.engine.capacity.course import Course
from springtide.engine.capacity.decision import Growth, decide
from springtide.engine.capacity.estimate import NewNode, estimate
from springtide.engine.capacity.explain import (
    LIMIT,
    Objections,
    objections,
)
from springtide.engine.capacity.limits import Limiter
from springtide.engine.capacity.minimum import at_least, raised
from springtide.engine.capacity.options import Expander
from springtide.engine.capacity.quotas import tracked
from springtide.engine.capacity.schedulable import fill
from springtide.engine.capacity.situation import GangAnswer, Plan, Situation, SizedGroup, Step
from springtide.engine.gang.ground import likeness
from springtide.engine.gang.settling import Settled, settle, settle_more
from springtide.engine.gang.shortfall import Shortfall, explained
from springtide.engine.gang.tally import tally
from springtide.engine.placement.classes import PodClass
from springtide.engine.simulation.templates import Template
from springtide.model.gang import Gang
from springtide.model.overlay import Overlay
from springtide.model.pod import Pod
from springtide.model.refusal import Refusal

SHUT_OUT: Final = "new nodes that come up together take none of the pods"


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
        self.course = Course(
            self.overlay,
            tracked(self.tables.ledger, situation.bounds.quotas),
            {item.group.name: item.size for item in situation.groups},
        )
        self.objected: Objections | None = None
        self.short: tuple[tuple[str, Refusal], ...] = ()
        self.asking = Asking(situation, self.overlay, self.course)
        self.is_moving = self.asking.is_moving

    def run(self) -> Plan:
        """Fill existing nodes, grow groups round by round, and explain the rest."""
        settled = settle(self.situation.pending, self.situation.gangs, self)
        if self.situation.manner.raises_to_minimum:
            settled = self._raise(settled)
        self.asking.ask((*settled.left, *(pod for gang in settled.unmet for pod in gang.pods)))
        gangs = self._gangs(settled)
        self.progress.begin("Explaining what fits nowhere")
        remaining = batches(settled.left, self.situation.classifier)
        limits = self.asking.limits(remaining)
        served = self.course.served()
        return Plan(
            fitting=self.course.fitting,
            steps=tuple(_finished(step, names, served) for step, names in self.course.steps),
            stuck=tuple(self.asking.stuck(batch, limits) for batch in remaining),
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
        self.asking.forget()
        left = self._fill(pods)
        self.asking.ask(left)
        if self.objected is None:
            asked = [
                (each, self.asking.answers(each.pod_class, {}))
                for each in batches(left, classifier)
            ]
            self.objected = objections(asked)
        for round_number in range(ROUNDS_MAX):
            self.progress.begin(f"Planning: step {round_number + 1}")
            self.progress.placed(len(pods) - len(left), len(pods))
            if round_number and self.is_moving:
                # What the last round placed may repel or attract what is left, or even out how
                # pods are spread, so that there is room again.
                left = self._fill(left)
            if round_number and (self.is_moving or self.asking.is_counted):
                self.asking.ask(left)
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

    # Growing

    def _grow(self, remaining: Sequence[Batch]) -> set[str] | None:
        """Grow what is best for the pods and return which of them it serves, or None."""
        scene = self.asking.scene(remaining)
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
        found = raised(self.asking.scene(batches(left, self.situation.classifier)))
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
            starts=self.asking.starts,
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
        self.asking.ask(lack.left)
        remaining = batches(lack.left, self.situation.classifier)
        obstacle = self.asking.stuck(remaining[0], self.asking.limits(remaining))
        answer = replace(answer, obstacle=obstacle)
        name, refusal = obstacle.closest, dict(obstacle.on_groups).get(obstacle.closest)
        if refusal is None or refusal.rule != LIMIT or name not in self.asking.starts:
            return answer
        missing = lack.left[: lack.tally.missing]
        with self.overlay.trial():
            more = estimate(
                batches(missing, self.situation.classifier),
                self.asking.starts[name],
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
