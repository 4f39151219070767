"""Limits of the whole cluster."""

import pytest

from springtide.base.selectors import parse_selector
from springtide.engine.capacity.quotas import Allowance, Quota, Tracker, content, tracked
from springtide.model.device import Inventory
from springtide.model.ledger import Ledger
from tests.builders import card, cards, node
from tests.estimates import template

TWO_CORES = template(node(cpu=2, memory=1000))


def tracker(*limits: tuple[str, int], existing: int = 0) -> Tracker:
    made = Tracker([Quota(limits=limits)])
    for _ in range(existing):
        made.count(node(cpu=2, memory=1000))
    return made


def test_a_node_counts_whole_cores_bytes_itself_and_its_devices() -> None:
    of = node(cpu="1500m", memory="1Ki", pods=10, others={"example.com/dongle": 2})
    two_kinds = (*cards(3), card("GPU-3", model="NVIDIA-L4"))

    counted = content(of, [("NVIDIA", Inventory("NVIDIA", two_kinds))])

    assert counted == {
        "cpu": 2,
        "memory": 1024,
        "pods": 10,
        "example.com/dongle": 2,
        "nodes": 1,
        "NVIDIA": 4,
        "NVIDIA-A10": 3,
        "NVIDIA-L4": 1,
    }


def test_a_virtual_node_counts_nothing() -> None:
    assert content(node(labels={"type": "virtual-kubelet"})) == {}


@pytest.mark.parametrize(
    ("limit", "existing", "count"),
    [(100, 1, 5), (8, 1, 3), (8, 3, 1), (7, 3, 0), (2, 3, 0)],
)
def test_so_many_nodes_are_allowed_as_the_limit_leaves(
    limit: int, existing: int, count: int
) -> None:
    assert tracker(("cpu", limit), existing=existing).allowed(TWO_CORES, 5).count == count


def test_the_tightest_resource_decides_and_all_that_are_exceeded_are_named() -> None:
    allowance = tracker(("memory", 2500), ("cpu", 2), ("nodes", 9)).allowed(TWO_CORES, 3)

    assert allowance.count == 1
    assert allowance.refusal.text == 'exceeded quota: "cluster-wide", resources: cpu, memory'
    assert allowance.refusal.detail == (
        "cpu 2 of 2 left, a new node has 2; memory 2500 of 2500 left, a new node has 1k"
    )


def test_more_than_is_allowed_leaves_nothing() -> None:
    allowance = tracker(("memory", 1000), existing=3).allowed(TWO_CORES, 1)

    assert allowance.count == 0
    assert allowance.refusal.detail == "0 of 1k left, a new node has 1k"


@pytest.mark.parametrize(
    ("name", "limit", "count"),
    [("NVIDIA", 5, 2), ("NVIDIA-A10", 5, 2), ("NVIDIA-L4", 5, 9), ("example.com/dongle", 3, 3)],
)
def test_devices_count_by_family_and_by_type_and_other_resources_by_name(
    name: str, limit: int, count: int
) -> None:
    of = template(node(others={"example.com/dongle": 1}), devices=cards(2))

    assert tracker((name, limit)).allowed(of, 9).count == count


def test_what_is_consumed_is_gone_but_not_for_a_fork_made_before() -> None:
    first = tracker(("nodes", 3))
    fork = first.fork()

    first.consume(TWO_CORES, 2)

    assert first.allowed(TWO_CORES, 3).count == 1
    assert fork.allowed(TWO_CORES, 3).count == 3


def test_a_quota_may_cover_a_part_of_the_nodes() -> None:
    quotas = [Quota(name="mine", limits=(("cpu", 2),), selector=parse_selector("team=mine"))]
    made = Tracker(quotas)
    made.count(node(cpu=2))

    mine = template(node(cpu=2, labels={"team": "mine"}))

    assert made.allowed(TWO_CORES, 5).count == 5
    assert made.allowed(mine, 5).count == 1


def test_without_quotas_everything_is_allowed() -> None:
    made = Tracker([])
    made.count(node())
    made.consume(TWO_CORES, 10)

    assert made.allowed(TWO_CORES, 10**6) == Allowance(count=10**6)


def test_the_nodes_of_a_ledger_count_with_their_devices() -> None:
    ledger = Ledger()
    ledger.add_node(node("a"), {"NVIDIA": Inventory("NVIDIA", cards(2))})
    ledger.add_node(node("b"))

    made = tracked(ledger, [Quota(limits=(("NVIDIA", 5),))])

    assert made.allowed(template(node(), devices=cards(2)), 9).count == 1
