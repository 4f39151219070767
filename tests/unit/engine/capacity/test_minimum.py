"""Groups below their smallest size, and what limits let them have."""

from collections.abc import Sequence

import pytest

from springtide.engine.capacity.decision import Growth
from springtide.engine.capacity.estimate import Estimate
from springtide.engine.capacity.minimum import Raised, at_least, raised
from springtide.engine.capacity.quotas import Quota, tracked
from springtide.engine.capacity.scene import Bounds, Candidate, Scene
from springtide.model.group import NodeGroup
from springtide.model.ledger import Ledger
from springtide.model.refusal import Refusal
from tests.builders import node
from tests.estimates import template

CLOSED = Refusal(rule="limit", reasons=("in backoff after failed scale-up",))
UNKNOWN = Refusal(rule="template", reasons=("no template: nobody knows",))
SIXTEEN = template(node(cpu=16))


def candidate(
    name: str,
    size: int,
    *,
    least: int = 0,
    most: int = 10,
    is_whole: bool = False,
    closed: Refusal | None = None,
    has_template: bool = True,
) -> Candidate:
    return Candidate(
        group=NodeGroup(name=name, min_size=least, max_size=most, is_zero_or_max=is_whole),
        size=size,
        template=SIXTEEN if has_template else UNKNOWN,
        closed=closed,
    )


def scene(candidates: Sequence[Candidate], *, cores: int = 0, nodes: int = 0) -> Scene:
    ledger = Ledger()
    for each in candidates:
        for index in range(each.size):
            ledger.add_node(node(cpu=16), name=f"{each.group.name}-{index}")
    return Scene(
        candidates=candidates,
        waiting=(),
        tracker=tracked(ledger, [Quota(limits=(("cpu", cores),))] if cores else []),
        node_count=ledger.count,
        estimator=lambda *_: Estimate(nodes=(), placed=(), left=()),
        bounds=Bounds(nodes_total_max=nodes),
    )


def sizes(found: Raised) -> dict[str, int]:
    return {growth.name: growth.size_after for growth in found.growths}


def texts(found: Raised) -> dict[str, str]:
    return {name: refusal.text for name, refusal in found.short}


def test_groups_below_their_minimum_are_raised_to_it() -> None:
    found = raised(scene([candidate("a", 1, least=3), candidate("b", 2, least=1)]))

    assert sizes(found) == {"a": 3}
    assert found.short == ()


def test_a_quota_leaves_a_group_on_its_way() -> None:
    found = raised(scene([candidate("a", 1, least=3), candidate("b", 1, least=1)], cores=48))

    assert sizes(found) == {"a": 2}
    assert texts(found) == {"a": 'exceeded quota: "cluster-wide", resources: cpu'}


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ({"cores": 48}, 'exceeded quota: "cluster-wide", resources: cpu'),
        ({"nodes": 3}, "max total nodes in cluster reached"),
    ],
)
def test_what_the_first_group_takes_the_next_one_cannot_have(
    limits: dict[str, int], reason: str
) -> None:
    found = raised(scene([candidate("a", 1, least=2), candidate("b", 1, least=2)], **limits))

    assert sizes(found) == {"a": 2}
    assert texts(found) == {"b": reason}


def test_a_group_that_may_not_grow_says_why() -> None:
    groups = [
        candidate("closed", 0, least=1, closed=CLOSED),
        candidate("unknown", 0, least=1, has_template=False),
    ]

    found = raised(scene(groups))

    assert found.growths == ()
    assert found.short == (("closed", CLOSED), ("unknown", UNKNOWN))


@pytest.mark.parametrize(("cores", "expected"), [(0, {"a": 4}), (16 * 4, {"a": 4}), (16 * 3, {})])
def test_a_group_of_all_or_none_is_raised_to_all_or_not_at_all(
    cores: int, expected: dict[str, int]
) -> None:
    found = raised(scene([candidate("a", 0, least=1, most=4, is_whole=True)], cores=cores))

    assert sizes(found) == expected


def test_groups_that_grow_for_pods_share_what_limits_leave_for_their_minimums() -> None:
    asked = scene([candidate("a", 0, least=3), candidate("b", 0, least=3)], cores=16 * 4)
    growths = [Growth(name=name, size_before=0, size_after=1) for name in ("a", "b")]

    found = at_least(growths, asked)

    assert [growth.size_after for growth in found] == [3, 1]
