"""How much free device memory is of no use to pods like those that came, counted by hand."""

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from springtide.engine.placement.classes import Classifier
from springtide.engine.replay import Fragments, fragments, shapes
from springtide.engine.replay.fragmentation import SHAPES_MAX
from springtide.model.device import Device
from springtide.model.node import Node
from springtide.model.pod import Pod
from tests.builders import card, cards, node, pod, replicas
from tests.estimates import FAMILIES, tables_of
from tests.headrooms import ledger_of

SMALL = pod("small", gpu=1, gpumem=8000)
WHOLE = pod("whole", gpu=1, gpumem=24576, gpucores=100)


def found(
    *pods: Pod,
    nodes: Sequence[tuple[Node, Sequence[Device]]],
    running: Sequence[tuple[Pod, int]] = (),
) -> tuple[Fragments, ...]:
    """Return the figure for these pods on these nodes, where others run."""
    tables = tables_of(ledger_of(nodes, running))
    classifier = Classifier(FAMILIES)
    return fragments(shapes(pods, classifier), classifier, tables)


def test_all_is_of_use_where_every_device_takes_every_pod() -> None:
    (answer,) = found(SMALL, WHOLE, nodes=[(node(), cards(2))])

    assert (answer.free_mib, answer.unusable_mib) == (2 * 24576, 0)


def test_what_is_left_of_a_device_that_refuses_is_of_no_use() -> None:
    taken = pod("taken", gpu=1, gpumem=10000)

    (answer,) = found(WHOLE, nodes=[(node(), cards(2))], running=[(taken, 0)])

    assert answer.free_mib == 2 * 24576 - 10000
    assert answer.unusable_mib == 24576 - 10000


def test_shapes_count_by_their_pods() -> None:
    taken = pod("taken", gpu=1, gpumem=10000)
    pods = (*replicas(3, SMALL), WHOLE)

    (answer,) = found(*pods, nodes=[(node(), cards(1))], running=[(taken, 0)])

    assert answer.unusable_mib == pytest.approx((24576 - 10000) / 4)


def test_nothing_is_of_use_on_a_node_that_lacks_something_else() -> None:
    hungry = pod("hungry", cpu=4, gpu=1, gpumem=8000)

    (answer,) = found(hungry, nodes=[(node(cpu=2), cards(2)), (node(cpu=8), cards(1))])

    assert answer.unusable_mib == 2 * 24576


def test_too_few_devices_are_of_no_use_at_all() -> None:
    pair = pod("pair", gpu=2, gpumem=8000)

    (answer,) = found(pair, nodes=[(node(), cards(1))])

    assert answer.unusable_mib == answer.free_mib == 24576


def test_pods_without_devices_have_no_say() -> None:
    assert found(pod("web", cpu=1), nodes=[(node(), cards(1))]) == ()

    (answer,) = found(SMALL, *replicas(9, pod("web", cpu=100)), nodes=[(node(), cards(1))])

    assert answer.unusable_mib == 0


def test_devices_that_serve_nobody_have_no_free_memory() -> None:
    broken = replace(card("GPU-1"), is_healthy=False)

    (answer,) = found(SMALL, nodes=[(node(), (card(), broken))])

    assert (answer.free_mib, answer.unusable_mib) == (24576, 0)


def test_rare_shapes_are_left_out_and_the_most_frequent_come_first() -> None:
    classifier = Classifier(FAMILIES)
    pods = (WHOLE, *replicas(99, SMALL))

    typical = shapes(pods, classifier)

    assert [(each.pod.name, each.count) for each in typical] == [("small-0", 99)]


def test_there_are_never_more_shapes_than_the_bound() -> None:
    pods = [pod(f"p-{size}", gpu=1, gpumem=size) for size in range(1, SHAPES_MAX + 100)]

    typical = shapes(pods, Classifier(FAMILIES))

    assert len(typical) == SHAPES_MAX


def test_what_is_a_pods_own_makes_no_shape() -> None:
    pods = (SMALL, pod("urgent", gpu=1, gpumem=8000, priority=5))

    (only,) = shapes(pods, Classifier(FAMILIES))

    assert only.count == 2
