"""Pools, put together from slices."""

import pytest

from springtide.base.taints import Taint
from springtide.engine.dynamic_resources.pools import PoolView, pools_of, view
from springtide.model.device_slices import NodeScope, ResourceSlice, TaintRule
from springtide.model.node import Node
from tests.builders import term
from tests.offers import DRIVER, offered, sliced

NODE = Node(name="a", labels={"zone": "z1"})


def seen(*slices: ResourceSlice, node: Node = NODE) -> PoolView | None:
    (pool,) = pools_of(slices)
    return view(pool, node)


def names(found: PoolView | None) -> list[str]:
    return [] if found is None else [each.device.name for each, _ in found.devices]


def test_only_the_newest_generation_counts() -> None:
    old, new = sliced(offered("x")), sliced(offered("y"), generation=2)

    (pool,) = pools_of([new, old])

    assert [each.device.name for each in pool.candidates] == ["y"]
    assert not pool.is_incomplete


def test_a_pool_is_incomplete_while_a_slice_is_missing() -> None:
    first, second = sliced(offered("x"), count=2), sliced(offered("y"), name="b", count=2)

    (missing,) = pools_of([first])
    (whole,) = pools_of([first, second])

    assert missing.is_incomplete
    assert not whole.is_incomplete


@pytest.mark.parametrize(
    ("slices", "fault"),
    [
        ([sliced(offered("x"), offered("x"))], "two devices have the same name"),
        ([sliced(offered("x", takes={"slices": "1"}))], "there is no counter set set"),
        (
            [sliced(offered("x", takes={"slices": "1"}), shared={"memory": "1"})],
            "a counter of the set set does not exist",
        ),
        (
            [
                sliced(shared={"slices": "1"}, count=2),
                sliced(shared={"slices": "1"}, name="b", count=2),
            ],
            "two counter sets have the same name",
        ),
        ([sliced(offered("x", takes={"slices": "1"}), shared={"slices": "7"})], ""),
    ],
)
def test_a_pool_that_contradicts_itself_is_invalid(slices: list[ResourceSlice], fault: str) -> None:
    (pool,) = pools_of(slices)

    assert pool.fault == fault


def test_pools_are_searched_by_name_and_those_that_need_binding_last() -> None:
    binding = sliced(offered("x", conditions=["ready"]), pool="a")

    found = pools_of([sliced(offered("x"), pool="c"), binding, sliced(offered("x"), pool="b")])

    assert [pool.name.pool for pool in found] == ["b", "c", "a"]


@pytest.mark.parametrize(
    ("scope", "is_seen"),
    [
        (NodeScope(node_name="a"), True),
        (NodeScope(node_name="b"), False),
        (NodeScope(is_everywhere=True), True),
        (NodeScope(terms=(term("zone", "In", "z1"),)), True),
        (NodeScope(terms=(term("zone", "In", "z2"),)), False),
        (NodeScope(), False),
    ],
)
def test_a_node_sees_the_slices_in_whose_scope_it_is(scope: NodeScope, *, is_seen: bool) -> None:
    found = seen(sliced(offered("x"), scope=scope))

    assert (found is not None) == is_seen


def test_devices_with_scopes_of_their_own_are_reached_one_by_one() -> None:
    here = offered("here", scope=NodeScope(node_name="a"))
    there = offered("there", scope=NodeScope(node_name="b"))

    found = seen(sliced(here, there, pool="fabric", is_per_device=True))

    assert found is not None
    assert [(each.device.name, reachable) for each, reachable in found.devices] == [
        ("here", True),
        ("there", False),
    ]


def test_a_pool_of_one_node_is_known_by_it() -> None:
    (own,) = pools_of([sliced(offered("x"))])
    (shared,) = pools_of([sliced(offered("x"), scope=NodeScope(is_everywhere=True))])

    assert (own.only_node, shared.only_node) == ("a", "")


@pytest.mark.parametrize(
    ("rule", "tainted"),
    [
        (TaintRule(name="r", taint=Taint(key="bad")), ["x", "y"]),
        (TaintRule(name="r", taint=Taint(key="bad"), device="x"), ["x"]),
        (TaintRule(name="r", taint=Taint(key="bad"), driver=DRIVER, pool="b"), []),
    ],
)
def test_a_taint_rule_taints_the_devices_that_it_selects(
    rule: TaintRule, tainted: list[str]
) -> None:
    (pool,) = pools_of([sliced(offered("x"), offered("y"))], [rule])

    assert [each.device.name for each in pool.candidates if each.device.taints] == tainted
