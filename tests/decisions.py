"""Deciding on one step of growing in tests: groups, nodes that are there, pods that wait."""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from springtide.engine.capacity.batches import batches
from springtide.engine.capacity.decision import Decision, decide
from springtide.engine.capacity.estimate import Estimate, estimate
from springtide.engine.capacity.options import Expander, Judgement, Option
from springtide.engine.capacity.quotas import Quota, tracked
from springtide.engine.capacity.scene import Bounds, Candidate, Manner, Scene, limiter
from springtide.engine.capacity.similarity import Similarity
from springtide.engine.capacity.start import begin
from springtide.engine.placement.classes import Classifier
from springtide.engine.simulation.templates import Template
from springtide.model.group import NodeGroup
from springtide.model.ledger import Ledger
from springtide.model.node import Node
from springtide.model.overlay import Overlay
from springtide.model.pod import Pod
from springtide.model.refusal import Refusal
from tests.estimates import FAMILIES, HandClock, tables_of, template

BALANCING = Manner(similarity=Similarity(ignored_labels=frozenset({"pool"})))


class Only:
    """Keeps the option of one group."""

    name = "only"

    def __init__(self, wanted: str) -> None:
        self._wanted = wanted

    def judge(self, options: Sequence[Option]) -> list[Judgement]:
        """Return a judgement for every option."""
        return [Judgement(each, each.group.name == self._wanted, "named") for each in options]


def candidate(
    name: str,
    of: Node | Refusal,
    *,
    size: int = 1,
    min_size: int = 0,
    max_size: int = 10,
    is_zero_or_max: bool = False,
    closed: Refusal | None = None,
) -> Candidate:
    """Return a group with a template of this node, or why there is none."""
    made = NodeGroup(name=name, min_size=min_size, max_size=max_size, is_zero_or_max=is_zero_or_max)
    known: Template | Refusal = of if isinstance(of, Refusal) else template(of)
    if isinstance(known, Template):
        named = replace(
            known.node, name=f"template-{name}", labels={**known.node.labels, "pool": name}
        )
        known = replace(known, group=made, node=named)
    return Candidate(group=made, size=size, template=known, closed=closed)


def decided(
    candidates: Sequence[Candidate],
    pending: Sequence[Pod],
    *,
    existing: Sequence[Node] = (),
    choose: str = "",
    bounds: Bounds | None = None,
    **manner: Any,
) -> Decision:
    """Return the decision; `choose` names the group whose option is kept, and else the first is."""
    how, limits = Manner(**manner), bounds or Bounds()
    ledger = Ledger()
    for index, each in enumerate(existing):
        ledger.add_node(each, name=f"n{index}")
    overlay = Overlay(ledger)
    waiting = batches(pending, Classifier(FAMILIES))
    tables = tables_of(ledger)
    starts = {
        each.group.name: begin(
            each.template, tables, overlay, [batch.pod_class for batch in waiting]
        )
        for each in candidates
        if isinstance(each.template, Template)
    }
    asked = [
        replace(each, verdicts=starts[each.group.name].verdicts)
        if each.group.name in starts
        else each
        for each in candidates
    ]

    def estimator(of: Candidate, helped: Sequence[Any], similar: Sequence[Candidate]) -> Estimate:
        bounded = limiter(of, similar, bounds=limits, node_count=len(existing), clock=HandClock())
        with overlay.trial():
            return estimate(helped, starts[of.group.name], bounded)

    chain: list[Expander] = [Only(choose)] if choose else []
    scene = Scene(
        candidates=asked,
        waiting=waiting,
        tracker=tracked(ledger, limits.quotas),
        node_count=len(existing),
        estimator=estimator,
        bounds=limits,
        manner=how,
    )
    return decide(scene, chain)


def sizes(decision: Decision) -> dict[str, int]:
    """Return the groups that grow with their new sizes."""
    return {growth.name: growth.size_after for growth in decision.growths}


def names(pods: Sequence[Pod]) -> list[str]:
    """Return the names of pods."""
    return [each.name for each in pods]


def counts(decision: Decision) -> list[tuple[str, int]]:
    """Return the options as groups with the nodes that they would add."""
    return [(option.group.name, option.node_count) for option in decision.options]


def quota(**limits: int) -> Bounds:
    """Return bounds with one quota of the whole cluster."""
    return Bounds(quotas=(Quota(limits=tuple(limits.items())),))
