"""Limits of the whole cluster."""

import pytest

from springtide.base.selectors import parse_selector
from springtide.engine.capacity.quotas import Allowance, Quota, Tracker, content, tracked
from springtide.model.device import Inventory
from springtide.model.ledger import Ledger
from tests.builders import cards, node
from tests.estimates import template

TWO_CORES = template(node(cpu=2, memory=1000))


def tracker(*limits: tuple[str, int], existing: int = 0) -> Tracker:
    made = Tracker([Quota(limits=limits)])
    for _ in range(existing):
        made.count(node(cpu=2, memory=1000))
    return made


def test_a_node_counts_whole_cores_bytes_itself_and_its_devices() -> None:
    of = node(cpu="1500m", memory="1Ki")

    counted = content(of, [("NVIDIA", Inventory("NVIDIA", cards(3)))])

    assert counted == {"cpu": 2, "memory": 1024, "nodes": 1, "NVIDIA": 3}


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

    assert allowance == Allowance(count=1, exceeded=(("cluster-wide", ("cpu", "memory")),))
    assert allowance.refusal.text == 'exceeded quota: "cluster-wide", resources: cpu, memory'


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
