"""One step of growing (cases of the orchestrator's own tests, where no live loop is needed)."""

from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from springtide.base.selectors import parse_selector
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
from tests.builders import node, pod, replicas
from tests.estimates import FAMILIES, HandClock, tables_of, template

NOTHING = Refusal(rule="template", reasons=("no template: nobody knows",))
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
    max_size: int = 10,
    is_zero_or_max: bool = False,
    closed: Refusal | None = None,
) -> Candidate:
    made = NodeGroup(name=name, max_size=max_size, is_zero_or_max=is_zero_or_max)
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
    return {growth.name: growth.size_after for growth in decision.growths}


def names(pods: Sequence[Pod]) -> list[str]:
    return [each.name for each in pods]


def counts(decision: Decision) -> list[tuple[str, int]]:
    return [(option.group.name, option.node_count) for option in decision.options]


def quota(**limits: int) -> Bounds:
    return Bounds(quotas=(Quota(limits=tuple(limits.items())),))


def test_the_group_whose_node_is_large_enough_grows() -> None:
    groups = [candidate("ng1", node(cpu="100m")), candidate("ng2", node(cpu=1))]

    decision = decided(groups, [pod("p", cpu="500m")])

    assert sizes(decision) == {"ng2": 2}
    assert names(decision.triggered) == ["p"]


def test_pods_are_parted_into_those_helped_those_waiting_and_those_that_fit_nowhere() -> None:
    groups = [
        candidate("ng1", node(cpu="100m", memory=1000)),
        candidate("ng2", node(cpu=1, memory=100)),
    ]
    pending = [pod("fits", cpu="900m"), pod("huge", cpu=2), pod("heavy", memory=200)]

    decision = decided(groups, pending, choose="ng2")

    assert names(decision.triggered) == ["fits"]
    assert names(decision.awaiting) == ["heavy"]
    (remaining,) = decision.remaining
    assert names(remaining.batch.pods) == ["huge"]
    assert [(name, refusal.text) for name, refusal in remaining.rejected] == [
        ("ng1", "Insufficient cpu"),
        ("ng2", "Insufficient cpu"),
    ]


def test_a_quota_cuts_the_growth_but_all_pods_of_the_option_count_as_helped() -> None:
    existing = [node(cpu=2), node(cpu=4)]
    groups = [candidate("ng1", node(cpu=2)), candidate("ng2", node(cpu=4))]

    decision = decided(
        groups, replicas(2, pod("p", cpu=2)), existing=existing, choose="ng1", bounds=quota(cpu=9)
    )

    assert sizes(decision) == {"ng1": 2}
    assert len(decision.triggered) == 2


def test_a_quota_of_memory_cuts_the_growth_too() -> None:
    existing = [node(cpu=2, memory=100), node(cpu=4, memory=1000)]
    groups = [candidate("ng1", node(cpu=2, memory=100))]

    decision = decided(
        groups,
        replicas(3, pod("p", cpu=2, memory=100)),
        existing=existing,
        bounds=quota(memory=1300),
    )

    assert sizes(decision) == {"ng1": 3}


@pytest.mark.parametrize(
    ("limited", "options"), [((), ["ng1", "ng2"]), (("ng2",), ["ng1"]), (("ng1", "ng2"), [])]
)
def test_a_group_that_a_quota_leaves_no_node_is_not_asked(
    limited: tuple[str, ...], options: list[str]
) -> None:
    existing = [node(cpu=2, labels={"pool": name}) for name in ("ng1", "ng2")]
    groups = [candidate("ng1", node(cpu=2)), candidate("ng2", node(cpu=2))]
    quotas = tuple(
        Quota(name=name, limits=(("cpu", 2),), selector=parse_selector(f"pool={name}"))
        for name in limited
    )

    decision = decided(groups, [pod("p", cpu=1)], existing=existing, bounds=Bounds(quotas=quotas))

    assert [name for name, _ in counts(decision)] == options
    assert dict(decision.skipped).keys() == set(limited)


def test_similar_groups_share_the_new_nodes() -> None:
    groups = [candidate("ng1", node(cpu=1)), candidate("ng2", node(cpu=1))]

    decision = decided(groups, replicas(2, pod("p", cpu="900m")), similarity=BALANCING.similarity)

    assert sizes(decision) == {"ng1": 2, "ng2": 2}
    assert decision.options[0].similar == ("ng2",)


def test_full_and_larger_groups_get_none_of_the_new_nodes() -> None:
    groups = [
        candidate("ng1", node(cpu="100m"), size=1, max_size=1),
        candidate("ng2", node(cpu="100m"), size=1, max_size=2),
        candidate("ng3", node(cpu="100m"), size=1, max_size=5),
        candidate("ng4", node(cpu="100m"), size=3, max_size=5),
    ]

    decision = decided(groups, replicas(2, pod("p", cpu="80m")), similarity=BALANCING.similarity)

    assert sizes(decision) == {"ng2": 2, "ng3": 2}


def test_a_group_that_refuses_some_of_the_pods_does_not_share() -> None:
    pending = [pod("p", cpu="900m", selector={"disk": "ssd"}), pod("q", cpu="900m")]
    groups = [
        candidate("ng1", node(cpu=1, labels={"disk": "ssd"})),
        candidate("ng2", node(cpu=1, labels={"disk": "hdd"})),
    ]

    similarity = Similarity(ignored_labels=frozenset({"pool", "disk"}))
    decision = decided(groups, pending, choose="ng1", similarity=similarity)

    assert sizes(decision) == {"ng1": 3}
    assert [option.similar for option in decision.options] == [(), ("ng1",)]


def test_a_quota_cuts_what_similar_groups_share() -> None:
    groups = [candidate("ng1", node(cpu=1), size=0), candidate("ng2", node(cpu=1), size=0)]

    decision = decided(
        groups,
        replicas(9, pod("p", cpu="900m")),
        similarity=BALANCING.similarity,
        bounds=quota(cpu=3),
    )

    assert sizes(decision) == {"ng1": 2, "ng2": 1}


def test_the_whole_cluster_has_no_more_nodes_than_it_may() -> None:
    existing = [node(cpu="100m"), node(cpu=4)]

    decision = decided(
        [candidate("ng2", node(cpu=4))],
        replicas(3, pod("p", cpu=4)),
        existing=existing,
        bounds=Bounds(nodes_total_max=3),
    )

    assert sizes(decision) == {"ng2": 2}


def test_all_or_nothing_is_nothing_if_not_all_fit() -> None:
    decision = decided(
        [candidate("ng1", node(cpu=1))],
        replicas(11, pod("p", cpu=1)),
        is_all_or_nothing=True,
    )

    assert decision == Decision()


def test_all_or_nothing_is_nothing_if_a_quota_cuts_the_growth() -> None:
    decision = decided(
        [candidate("ng1", node(cpu=1))],
        replicas(5, pod("p", cpu=1)),
        bounds=quota(cpu=3),
        is_all_or_nothing=True,
    )

    (remaining,) = decision.remaining
    assert decision.growths == ()
    assert len(remaining.batch.pods) == 5
    assert [refusal.text for _, refusal in remaining.rejected] == [
        "not all pods would fit and scale-up is using all-or-nothing strategy"
    ]


def test_options_that_no_expander_keeps_are_told_so() -> None:
    groups = [candidate("ng1", node()), candidate("ng2", node())]

    decision = decided(groups, [pod("p", cpu=1)], choose="another")

    (remaining,) = decision.remaining
    assert {refusal.text for _, refusal in remaining.rejected} == {
        "expansion options filtered out and no longer considered"
    }


def test_a_group_of_all_or_none_gets_all_its_nodes() -> None:
    groups = [
        candidate("ng1", node(cpu="100m")),
        candidate("ng2", node(cpu=1, memory=1000), size=0, max_size=5, is_zero_or_max=True),
    ]

    decision = decided(groups, [pod("p", cpu=1, memory=1000)])

    assert sizes(decision) == {"ng2": 5}
    assert counts(decision) == [("ng2", 5)]


def test_groups_of_all_or_none_share_nothing() -> None:
    groups = [
        candidate("ng2", node(cpu=1), size=0, max_size=5, is_zero_or_max=True),
        candidate("ng3", node(cpu=1), size=0, max_size=4, is_zero_or_max=True),
    ]

    decision = decided(
        groups, replicas(4, pod("p", cpu=1)), choose="ng3", similarity=BALANCING.similarity
    )

    assert sizes(decision) == {"ng3": 4}


@pytest.mark.parametrize(
    ("bounds", "text"),
    [
        (quota(cpu=3), 'exceeded quota: "cluster-wide", resources: cpu'),
        (quota(memory=3000), 'exceeded quota: "cluster-wide", resources: memory'),
        (Bounds(nodes_total_max=5), "atomic scale-up exceeds cluster node count limit"),
    ],
)
def test_a_group_of_all_or_none_needs_room_for_all(bounds: Bounds, text: str) -> None:
    existing = [node(cpu=0, memory=0), node(cpu=0, memory=0)]
    groups = [candidate("ng2", node(cpu=1, memory=1000), size=0, max_size=5, is_zero_or_max=True)]

    decision = decided(groups, [pod("p", cpu=1)], existing=existing, bounds=bounds)

    assert decision.growths == ()
    assert [(name, refusal.text) for name, refusal in decision.skipped] == [("ng2", text)]
    assert decision.remaining[0].skipped == decision.skipped


def test_a_group_may_be_closed_full_or_unknown() -> None:
    closed = Refusal(rule="limit", reasons=("in backoff after failed scale-up",))
    groups = [
        candidate("closed", node(), closed=closed),
        candidate("full", node(), size=3, max_size=3),
        candidate("unknown", NOTHING),
    ]

    decision = decided(groups, [pod("p", cpu=1)])

    assert [(name, refusal.text) for name, refusal in decision.skipped] == [
        ("closed", "in backoff after failed scale-up"),
        ("full", "max node group size reached"),
        ("unknown", "no template: nobody knows"),
    ]


def test_a_skipped_group_may_be_asked_what_else_would_be_in_the_way() -> None:
    groups = [
        candidate("tight", node(cpu=1), size=3, max_size=3),
        candidate("roomy", node(cpu=8), size=3, max_size=3),
    ]

    decision = decided(groups, [pod("p", cpu=2)], asks_skipped=True)

    (remaining,) = decision.remaining
    assert [(name, refusal.text) for name, refusal in remaining.rejected] == [
        ("tight", "Insufficient cpu")
    ]
    assert [name for name, _ in remaining.skipped] == ["roomy"]
