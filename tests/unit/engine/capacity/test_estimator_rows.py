"""The published cases of the estimator (rows E1 to E15, L1 to L6 and B1 of the peer's own tests).

All of them are here. Nodes have so many MiB, and pods ask for bytes where no unit is given, as in the
original. A node that was there before and takes a pod counts in E6 to E8, as there.
"""

from collections.abc import Sequence

import msgspec
import pytest

from springtide.engine.capacity.estimate import Estimate, estimate
from springtide.engine.capacity.fastpath import best_for_fastpath
from springtide.engine.capacity.limits import Limiter, Threshold, tightest
from springtide.engine.capacity.start import begin
from springtide.model.ledger import Ledger
from springtide.model.neighbours import ALONE, Neighbours
from springtide.model.node import HOSTNAME_LABEL, Node
from springtide.model.overlay import Overlay
from springtide.model.pod import Pod
from springtide.model.resources import amounts
from tests.builders import Amount, away, node, pod, replicas, spread
from tests.estimates import HandClock, batched, limiter, tables_of, template

OLD = node(
    "oldnode",
    cpu="100m",
    memory="100Mi",
    pods=10,
    labels={HOSTNAME_LABEL: "oldnode", "zone": "jupiter"},
)


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One published case: a template, batches of pods, and how many nodes and pods come of it."""

    of: Node
    items: Sequence[Sequence[Pod]]
    nodes_max: int = 0
    nodes: int
    placed: int

    def estimate(self, *, fastpath: bool = False) -> Estimate:
        """Return the estimate."""
        overlay = Overlay(Ledger())
        overlay.add_node(OLD)
        items = batched(self.items)
        classes = [batch.pod_class for batch in items]
        start = begin(template(self.of), tables_of(overlay.ledger), overlay, classes)
        with overlay.trial():
            answer = estimate(items, start, limiter(self.nodes_max), fastpath=fastpath)
        overlay.ledger.check()
        return answer


def mars(*, cpu: Amount, memory: int, pods: int = 10) -> Node:
    labels = {HOSTNAME_LABEL: "template", "zone": "mars"}
    return node("template", cpu=cpu, memory=f"{memory}Mi", pods=pods, labels=labels)


def estimatees(
    count: int,
    cpu: str,
    memory: Amount = 0,
    *,
    name: str = "estimatee",
    neighbours: Neighbours = ALONE,
    ports: Sequence[int] = (),
) -> tuple[Pod, ...]:
    made = pod(
        name,
        cpu=cpu,
        memory=memory,
        labels={"app": "a"},
        neighbours=neighbours,
        ports=ports,
    )
    return replicas(count, made)


SMALL = estimatees(10, "50m", name="small")
LARGE = estimatees(10, "500m", "1000Mi", name="large")

ROWS = {
    "E1 two of three thirds": Row(
        of=mars(cpu=1, memory=2000), items=[estimatees(10, "350m", "1000Mi")], nodes=5, placed=10
    ),
    "E2 the number of pods counts": Row(
        of=mars(cpu=10, memory=20000), items=[estimatees(20, "10m", "100Mi")], nodes=2, placed=20
    ),
    "E3 one host port a node": Row(
        of=mars(cpu=1, memory=5000),
        items=[estimatees(8, "200m", ports=[5555])],
        nodes=8,
        placed=8,
    ),
    "E4 at most five nodes": Row(
        of=mars(cpu=1, memory=5000),
        items=[estimatees(20, "500m", "1000Mi")],
        nodes_max=5,
        nodes=5,
        placed=10,
    ),
    "E6 two more on a node": Row(
        of=mars(cpu=1, memory=5000),
        items=[estimatees(8, "200m", 200, neighbours=spread(HOSTNAME_LABEL, skew=2))],
        nodes=4,
        placed=8,
    ),
    "E7 two more in a zone": Row(
        of=mars(cpu=1, memory=5000),
        items=[estimatees(8, "20m", 100, neighbours=spread("zone", skew=2))],
        nodes=1,
        placed=2,
    ),
    "E8 at least three nodes": Row(
        of=mars(cpu=1, memory=5000),
        items=[estimatees(12, "20m", 100, neighbours=spread(HOSTNAME_LABEL, domains_min=3))],
        nodes=3,
        placed=12,
    ),
    "B1 fifty thousand small and a thousand large": Row(
        of=mars(cpu=1, memory=5000, pods=100),
        items=[estimatees(50_000, "50m", "100Mi"), estimatees(1_000, "95m", "190Mi", name="large")],
        nodes_max=3_000,
        nodes=2_595,
        placed=51_000,
    ),
}
ONE_BATCH = {name: row for name, row in ROWS.items() if len(row.items) == 1}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS.keys())
def test_so_many_nodes_take_so_many_pods(row: Row) -> None:
    answer = row.estimate()

    assert (answer.node_count + len(answer.elsewhere), len(answer.placed)) == (
        row.nodes,
        row.placed,
    )


@pytest.mark.parametrize("row", ONE_BATCH.values(), ids=[f"E9 {name}" for name in ONE_BATCH])
def test_counting_instead_of_packing_makes_no_difference(row: Row) -> None:
    packed, counted = row.estimate(), row.estimate(fastpath=True)

    assert (counted.node_count, counted.placed) == (packed.node_count, packed.placed)


def test_e5_large_pods_take_the_permitted_nodes_first() -> None:
    row = Row(
        of=mars(cpu=1, memory=5000, pods=2), items=[SMALL, LARGE], nodes_max=5, nodes=5, placed=10
    )

    answer = row.estimate()

    assert answer.node_count == row.nodes
    assert answer.placed == LARGE
    assert answer.left == SMALL
    assert answer.is_limited


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        pytest.param([(5, 30, 5), (3, 50, 6)], 0, id="E10"),
        pytest.param([(6, 30, 5), (5, 90, 90)], 1, id="E11"),
        pytest.param([(3, 80, 80), (3, 70, 70), (4, 50, 5)], 2, id="E12 the later of equals"),
        pytest.param([(2, 0, 0), (4, 0, 0)], 1, id="E14 nothing asked"),
        pytest.param([(2, 60, 60), (100, 1, 5)], 0, id="E15"),
    ],
)
def test_the_batch_that_saves_most_is_counted(
    sizes: Sequence[tuple[int, int, int]], expected: int
) -> None:
    items = batched(
        [
            estimatees(count, f"{cpu}m", memory, name=str(index))
            for index, (count, cpu, memory) in enumerate(sizes)
        ]
    )

    best = best_for_fastpath(items, {"cpu": 100, "memory": 100 << 20})

    assert best is items[expected]


@pytest.mark.parametrize(
    "neighbours",
    [spread(HOSTNAME_LABEL), spread("zone"), away("zone", "a")],
    ids=["E13 spread", "E13 zonal spread", "E13 zonal anti-affinity"],
)
def test_pods_that_look_beyond_their_node_are_never_merely_counted(neighbours: Neighbours) -> None:
    items = batched([estimatees(3, "10m", neighbours=neighbours)])

    assert best_for_fastpath(items, amounts(node().capacity)) is None


# Limits


@pytest.mark.parametrize(
    ("thresholds", "granted"),
    [
        pytest.param([Threshold(3)], [1, 1, 1, 0], id="L1 a limit of three"),
        pytest.param([Threshold(-1), Threshold(10)], [0], id="L2 a negative limit"),
        pytest.param([Threshold(0, -1.0), Threshold(0, 3600.0)], [0], id="L3 a negative duration"),
    ],
)
def test_so_many_nodes_are_permitted(thresholds: Sequence[Threshold], granted: list[int]) -> None:
    asked = Limiter(thresholds, HandClock())

    assert [asked.permit() for _ in granted] == granted


def test_l4_nothing_is_permitted_after_the_time_until_a_reset() -> None:
    clock = HandClock()
    asked = Limiter([Threshold(20, 5.0)], clock)
    clock.now_s = 10.0

    late = asked.permit()
    asked.reset()

    assert late == 0
    assert asked.permit() == 1


def test_l5_a_reset_forgets_what_was_granted() -> None:
    asked = Limiter([Threshold(2)], HandClock())
    granted = [asked.permit() for _ in range(3)]

    asked.reset()

    assert granted == [1, 1, 0]
    assert asked.permit() == 1
    assert asked.granted == 1


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [(0, 5, 5), (5, 0, 5), (5, 3, 3), (-1, 7, -1), (7, -1, -1), (-1, 0, -1), (0, 0, 0)],
    ids=lambda value: f"L6 {value}",
)
def test_the_tighter_of_two_bounds_holds(one: int, other: int, expected: int) -> None:
    assert tightest(one, other) == expected
