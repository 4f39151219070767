"""The plan: which groups to grow, by how many nodes, so that pending pods can run.

First the pods that fit existing nodes are placed there. Then, round by round, every group that may
grow is asked how many of the remaining pods its next nodes would take; expanders choose the best;
its nodes and pods join the picture; what is left goes into the next round, until no group helps.
The caller's ledger is as it was afterwards.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from springtide.base.clock import Clock
from springtide.engine.capacity.batches import Batch, batches
from springtide.engine.capacity.estimate import Estimate, NewNode, estimate
from springtide.engine.capacity.limits import Limiter, Threshold, cluster_room, headroom
from springtide.engine.capacity.options import Expander, Option, choose
from springtide.engine.capacity.schedulable import fill
from springtide.engine.capacity.start import Start, begin_all
from springtide.engine.framework.ask import reads_others
from springtide.engine.placement.classes import Classifier, PodClass
from springtide.engine.placement.tables import Placement, Tables, holding
from springtide.engine.simulation.templates import Template
from springtide.model.group import NodeGroup
from springtide.model.overlay import Overlay
from springtide.model.pod import Pod, PodSpec
from springtide.model.refusal import Refusal

ROUNDS_MAX: Final = 256


class SizedGroup(msgspec.Struct, frozen=True, kw_only=True):
    """A group with the number of nodes it has, and its template or why there is none."""

    group: NodeGroup
    size: int
    template: Template | Refusal


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """How far one plan may go; 0 does not bound. Defaults are Cluster Autoscaler's."""

    nodes_per_step_max: int = 1000
    nodes_total_max: int = 0
    step_duration_s_max: float = 10.0


class Situation(msgspec.Struct, frozen=True, kw_only=True):
    """What a plan is made from."""

    tables: Tables
    classifier: Classifier
    pending: Sequence[Pod]
    groups: Sequence[SizedGroup]
    clock: Clock
    bounds: Bounds = Bounds()


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One growth: the group, its size before and after, who goes where, and why this group."""

    group: NodeGroup
    size_before: int
    size_after: int
    nodes: tuple[NewNode, ...]
    why: str
    rejected: tuple[tuple[str, str], ...]


class Stuck(msgspec.Struct, frozen=True, kw_only=True):
    """Pods of one class that the plan does not help.

    `on_nodes` counts the refusals of existing nodes, `on_groups` has each group's refusal, and
    `closest` names the group that comes nearest to taking them.
    """

    pods: tuple[Pod, ...]
    pod_class: PodClass
    on_nodes: tuple[tuple[Refusal, int], ...]
    on_groups: tuple[tuple[str, Refusal], ...]
    closest: str


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
        self.estimates: dict[tuple[str, int, tuple[tuple[str, int], ...]], Estimate] = {}
        self.steps: list[Step] = []
        self.rejected: dict[str, str] = {}
        self.elsewhere: list[tuple[Pod, str]] = []
        self.is_moving = reads_others(_joining(situation))
        """Whether what a round places may change what nodes answer to the pods that are left."""

    def run(self) -> Plan:
        """Fill existing nodes, grow groups round by round, and explain the rest."""
        classifier = self.situation.classifier
        filled = fill(self.situation.pending, self.tables, self.overlay, classifier)
        self.existing = self.overlay.ledger.count
        self._ask_templates(filled.left)
        objections = self._objections(batches(filled.left, classifier))
        left = filled.left
        for round_number in range(ROUNDS_MAX):
            if round_number and self.is_moving:
                # What the last round placed may repel or attract what is left.
                self._ask_templates(left)
            option = self._grow(batches(left, classifier))
            if option is None:
                break
            done = {pod.uid for pod in option.estimate.placed}
            left = tuple(pod for pod in left if pod.uid not in done)
        remaining = batches(left, classifier)
        return Plan(
            fitting=(*filled.placed, *self.elsewhere),
            steps=tuple(self.steps),
            stuck=tuple(self._stuck(batch) for batch in remaining),
            objections=objections,
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

    def _options(self, remaining: Sequence[Batch]) -> list[Option]:
        options = []
        for item in self.situation.groups:
            name = item.group.name
            helped = [batch for batch in remaining if self._verdict(item, batch.pod_class) is None]
            if not helped or isinstance(item.template, Refusal):
                continue
            answer = self._estimate(item.group, helped)
            if answer.node_count:
                options.append(
                    Option(
                        group=item.group,
                        template=item.template,
                        estimate=answer,
                        size=self.sizes[name],
                    )
                )
        return options

    def _estimate(self, group: NodeGroup, helped: list[Batch]) -> Estimate:
        bounds = self.situation.bounds
        size = self.sizes[group.name]
        # The same batches at the same size get the same answer, round after round.
        key = (group.name, size, tuple((batch.first.uid, len(batch.pods)) for batch in helped))
        known = self.estimates.get(key)
        if known is not None and not bounds.nodes_total_max and not self.is_moving:
            return known
        limiter = Limiter(
            (
                Threshold(bounds.nodes_per_step_max, bounds.step_duration_s_max),
                headroom([(group.max_size, size)]),
                cluster_room(bounds.nodes_total_max, self.overlay.ledger.count),
            ),
            self.situation.clock,
        )
        with self.overlay.trial():
            answer = estimate(helped, self.starts[group.name], limiter)
        self.estimates[key] = answer
        return answer

    # Growing

    def _grow(self, remaining: Sequence[Batch]) -> Option | None:
        options = self._options(remaining)
        if not options:
            return None
        choice = choose(options, self.chain)
        option = choice.option
        if option is None:
            self.rejected = {other.group.name: why for other, why in choice.rejected}
            return None
        group = option.group
        size_after = max(option.size + option.estimate.node_count, group.min_size)
        names = [
            f"{group.name}-new-{self.sizes[group.name] + 1 + index}"
            for index in range(option.estimate.node_count)
        ]
        nodes = tuple(
            NewNode(name, node.pods)
            for name, node in zip(names, option.estimate.nodes, strict=True)
        )
        self._settle(self.starts[group.name], nodes)
        self._settle_elsewhere(option.estimate.elsewhere)
        self.sizes[group.name] = size_after
        self.steps.append(
            Step(
                group=group,
                size_before=option.size,
                size_after=size_after,
                nodes=nodes,
                why=choice.why,
                rejected=tuple((other.group.name, why) for other, why in choice.rejected),
            )
        )
        return option

    def _settle(self, start: Start, nodes: Sequence[NewNode]) -> None:
        """Put the chosen nodes and their pods into the picture, so that later rounds see them."""
        for node in nodes:
            self._settle_pods(node, start.add(node.name))

    def _settle_elsewhere(self, nodes: Sequence[NewNode]) -> None:
        """Put pods where new nodes let them go: on nodes that were there before."""
        for node in nodes:
            self._settle_pods(node, self.overlay.ledger.rows[node.name])
            self.elsewhere.extend((pod, node.name) for pod in node.pods)

    def _settle_pods(self, node: NewNode, row: int) -> None:
        for pod in node.pods:
            pod_class = self.situation.classifier.classify(pod)
            # The estimate has asked all rules; only which devices it was is needed again.
            placement = self.tables.allocate(pod_class, row)
            assert isinstance(placement, Placement), (pod.key, node.name, placement)
            self.overlay.hold(holding(pod.uid, pod_class, placement))

    # Explaining

    def _stuck(self, batch: Batch) -> Stuck:
        on_groups = []
        for item in self.situation.groups:
            refusal = self._verdict(item, batch.pod_class) or self._limit(item.group)
            on_groups.append((item.group.name, refusal))
        on_nodes = self._on_existing(batch.pod_class)
        return Stuck(
            pods=batch.pods,
            pod_class=batch.pod_class,
            on_nodes=tuple(on_nodes),
            on_groups=tuple(on_groups),
            closest=self._closest(batch.pod_class, on_groups),
        )

    def _on_existing(self, pod_class: PodClass) -> list[tuple[Refusal, int]]:
        return self.tables.histogram(pod_class, below=self.existing)

    def _limit(self, group: NodeGroup) -> Refusal:
        size, total_max = self.sizes[group.name], self.situation.bounds.nodes_total_max
        reason, detail = "time limit of the estimate reached", ""
        if size >= group.max_size:
            reason = "max node group size reached"
            detail = f"{size} of at most {group.max_size} nodes"
        elif 0 < total_max <= self.overlay.ledger.count:
            reason = "max total nodes in cluster reached"
        elif group.name in self.rejected:
            reason = self.rejected[group.name]
        return Refusal(rule="limit", reasons=(reason,), detail=detail)

    def _closest(self, pod_class: PodClass, on_groups: Sequence[tuple[str, Refusal]]) -> str:
        families = {ask.family for ask in pod_class.asks}
        items = {item.group.name: item for item in self.situation.groups}

        def distance(entry: tuple[str, Refusal]) -> tuple[int, int]:
            name, refusal = entry
            return _distance(refusal, families), -_largest_device(items[name].template, families)

        return min(on_groups, key=distance)[0] if on_groups else ""

    def _objections(
        self, remaining: Sequence[Batch]
    ) -> tuple[tuple[str, tuple[tuple[Refusal, int], ...]], ...]:
        found = []
        for item in self.situation.groups:
            counts: dict[Refusal, int] = {}
            for batch in remaining:
                refusal = self._verdict(item, batch.pod_class)
                if refusal is not None:
                    counts[refusal] = counts.get(refusal, 0) + len(batch.pods)
            ordered = sorted(counts.items(), key=lambda entry: -entry[1])
            found.append((item.group.name, tuple(ordered)))
        return tuple(found)


def _joining(situation: Situation) -> list[PodSpec]:
    """Return the specs of all pods that a plan may add, those of new nodes included."""
    templates = [item.template for item in situation.groups if isinstance(item.template, Template)]
    own = [pod.spec for template in templates for pod in template.pods]
    return [*own, *(pod.spec for pod in situation.pending)]


def _distance(refusal: Refusal, families: set[str]) -> int:
    """Return how far a refusal is from a yes: limits, devices, resources, unknown, node rules."""
    if refusal.rule == "limit":
        return 0
    if refusal.rule in families:
        return 3 if refusal.is_unresolvable else 1
    if refusal.rule == "NodeResourcesFit":
        return 2
    return 4 if refusal.rule in {"profile", "template"} else 5


def _largest_device(template: Template | Refusal, families: set[str]) -> int:
    if isinstance(template, Refusal):
        return 0
    return max(
        (
            device.memory_mib
            for family, inventory in template.inventories
            if family in families
            for device in inventory.devices
        ),
        default=0,
    )
