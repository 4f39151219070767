"""Which pending pods fit the nodes that exist."""

from collections.abc import Sequence

from springtide.base.taints import Toleration
from springtide.engine.capacity.schedulable import Fill, fill
from springtide.engine.placement.classes import Classifier
from springtide.model.device import Device, Inventory
from springtide.model.ledger import Ledger
from springtide.model.node import Node
from springtide.model.overlay import Overlay
from springtide.model.pod import Pod
from tests.builders import cards, node, pod, replicas
from tests.estimates import FAMILIES, tables_of


def filled(
    pods: Sequence[Pod],
    nodes: Sequence[Node],
    *,
    devices: Sequence[Device] = (),
    first_row: int = 0,
) -> Fill:
    ledger = Ledger()
    for each in nodes:
        ledger.add_node(each, {"NVIDIA": Inventory("NVIDIA", tuple(devices))} if devices else {})
    overlay = Overlay(ledger)
    return fill(pods, tables_of(ledger), overlay, Classifier(FAMILIES), first_row=first_row)


def where(answer: Fill) -> list[tuple[str, str]]:
    return [(each.name, on) for each, on in answer.placed]


def test_the_search_goes_on_behind_the_last_match() -> None:
    nodes = [node(name) for name in ("a", "b", "c")]

    answer = filled(replicas(4, pod("p", cpu=1)), nodes)

    assert [on for _, on in where(answer)] == ["b", "c", "a", "b"]


def test_important_pods_are_placed_first_and_told_first_if_left() -> None:
    pods = [
        pod("low", cpu=4),
        pod("high", cpu=8, priority=10),
        pod("huge", cpu=9),
        pod("vital", cpu=9, priority=10),
    ]

    answer = filled(pods, [node(cpu=8)])

    assert where(answer) == [("high", "node")]
    assert [each.name for each in answer.left] == ["vital", "low", "huge"]


def test_what_is_placed_takes_room() -> None:
    answer = filled(replicas(3, pod("p", cpu=3)), [node(cpu=8)])

    assert [each.name for each in answer.left] == ["p-2"]


def test_a_cordoned_node_is_passed_over_even_by_pods_that_tolerate_it() -> None:
    tolerant = pod("p", tolerations=[Toleration(operator="Exists")])

    answer = filled([tolerant], [node("cordoned", is_unschedulable=True)])

    assert answer.left == (tolerant,)


def test_pods_with_devices_go_where_their_node_is_fullest() -> None:
    answer = filled(
        replicas(3, pod("p", gpu=1, gpumem=10000)), [node("a"), node("b")], devices=cards(1)
    )

    assert [on for _, on in where(answer)] == ["a", "a", "b"]


def test_pods_that_spread_go_where_their_node_is_emptiest() -> None:
    spreading = pod(
        "p", gpu=1, gpumem=1000, annotations={"hami.io/node-scheduler-policy": "spread"}
    )

    answer = filled(replicas(3, spreading), [node("a"), node("b")], devices=cards(1))

    assert [on for _, on in where(answer)] == ["a", "b", "a"]


def test_rows_before_the_first_are_left_alone() -> None:
    answer = filled(replicas(2, pod("p")), [node("a"), node("b")], first_row=1)

    assert [on for _, on in where(answer)] == ["b", "b"]
