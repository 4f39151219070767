"""How much less a pod would have to ask."""

from msgspec.structs import replace

from springtide.engine.explain import Change, ChangeKind
from springtide.model.node import Node
from springtide.model.pod import Pod
from tests.builders import card, cards, node, pod, resources
from tests.explaining import Cluster, running


def changes(who: Pod, *nodes: Node, placed: tuple[Pod, ...] = ()) -> list[Change]:
    """Return the changes to smaller amounts that would help."""
    found = Cluster(nodes, placed).explain(who)
    return [each for each in found.changes if each.kind is ChangeKind.ASK_LESS]


def test_as_much_device_memory_is_asked_as_a_card_has_free() -> None:
    taken = running("r", "n1", card="GPU-0", gpumem=10_001)

    found = changes(pod(gpu=1, gpumem=20_000), node("n1", cards=cards(1)), placed=(taken,))

    assert [each.text for each in found] == ["ask nvidia.com/gpumem: 14575 instead of 20000"]
    assert found[0].node == "n1"
    assert found[0].size == (20_000 - 14_575) / 20_000


def test_fewer_cards_are_asked_where_a_node_has_fewer() -> None:
    found = changes(pod(gpu=4, gpumem=1000), node(cards=cards(2)))

    assert [each.text for each in found] == ["ask nvidia.com/gpu: 2 instead of 4"]


def test_fewer_cores_are_asked() -> None:
    taken = running("r", "n1", card="GPU-0", gpumem=1, gpucores=70)

    found = changes(
        pod(gpu=1, gpumem=1000, gpucores=50), node("n1", cards=cards(1)), placed=(taken,)
    )

    assert [each.text for each in found] == ["ask nvidia.com/gpucores: 30 instead of 50"]


def test_a_whole_card_becomes_a_part_of_one_without_all_its_cores() -> None:
    taken = running("r", "n1", card="GPU-0", gpumem=6144, gpucores=10)

    found = changes(pod(gpu=1, gpucores=100), node("n1", cards=cards(1)), placed=(taken,))

    assert [each.text for each in found] == ["ask nvidia.com/gpumem-percentage: 75 instead of 100"]


def test_less_cpu_is_asked_to_the_thousandth_of_a_core() -> None:
    found = changes(pod(cpu=9), node(cpu="7777m"))

    assert [each.text for each in found] == ["ask cpu: 7777m instead of 9"]


def test_less_memory_is_asked_in_whole_mebibytes() -> None:
    found = changes(pod(memory="3Gi"), node(memory=str((2 << 30) + 5)))

    assert [each.text for each in found] == ["ask memory: 2Gi instead of 3Gi"]


def test_a_resource_of_the_pod_as_a_whole_is_lowered_too() -> None:
    who = pod(cpu=1)
    whole = replace(who, spec=replace(who.spec, requests=resources({"cpu": 4})))

    found = changes(whole, node(cpu=2))

    assert [each.text for each in found] == ["ask cpu: 2 instead of 4"]


def test_nothing_is_told_where_no_amount_would_do() -> None:
    found = changes(pod(gpu=1, gpumem=100), node(cards=[card(is_healthy=False)]))

    assert found == []


def test_devices_that_no_node_has_cannot_be_asked_in_part() -> None:
    found = changes(pod(gpu=2, gpumem=100), node())

    assert found == []
