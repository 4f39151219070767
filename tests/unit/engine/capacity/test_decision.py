"""One step of growing, beside the published cases (`test_orchestrator_rows`)."""

from springtide.engine.capacity.similarity import Similarity
from springtide.model.refusal import Refusal
from tests.builders import node, pod, replicas
from tests.decisions import BALANCING, candidate, decided, quota, sizes

NOTHING = Refusal(rule="template", reasons=("no template: nobody knows",))


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


def test_a_group_of_all_or_none_does_not_share_what_another_one_gets() -> None:
    groups = [
        candidate("ng1", node(cpu=1)),
        candidate("whole", node(cpu=1), size=0, max_size=3, is_zero_or_max=True),
    ]

    decision = decided(
        groups, replicas(2, pod("p", cpu="900m")), choose="ng1", similarity=BALANCING.similarity
    )

    assert sizes(decision) == {"ng1": 3}
