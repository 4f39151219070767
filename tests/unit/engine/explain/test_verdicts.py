"""What nodes and devices say, and in which words and numbers."""

from msgspec.structs import replace

from springtide.engine.explain.verdicts import DeviceVerdict, devices_on
from springtide.model.device import Device
from springtide.model.node import Node
from springtide.model.pod import Pod
from tests.builders import card, cards, node, pod, term
from tests.explaining import Cluster, running


def sentences(who: Pod, *nodes: Node, placed: tuple[Pod, ...] = ()) -> list[str]:
    """Return what is said of the nodes that refuse the pod."""
    verdicts = Cluster(nodes, placed).explain(who).verdicts
    return [each.sentence for each in verdicts if each.refusal is not None]


def listed(who: Pod, of: Node, placed: tuple[Pod, ...] = ()) -> list[DeviceVerdict]:
    """Return the devices of the only node."""
    cluster = Cluster([of], placed)
    found = cluster.explain(who)
    return list(devices_on(cluster.scene.tables, found.pod_class, 0))


# Nodes


def test_nodes_that_say_the_same_stand_together_with_the_most_that_any_has_free() -> None:
    taken = running("r", "n1", card="GPU-0", gpumem=20_000)
    nodes = [node(f"n{index}", cards=cards(1)) for index in (1, 2)]

    found = Cluster(nodes, [taken]).explain(pod(gpu=1, gpumem=30_000)).verdicts

    assert [(each.rows, each.sentence) for each in found] == [
        ((0, 1), "the only device lacks memory: largest free is 24 GiB, 30000 MiB asked")
    ]


def test_the_nodes_that_take_the_pod_come_first_and_say_nothing() -> None:
    nodes = [node("n1", cpu=1), node("n2", cpu=4)]

    found = Cluster(nodes).explain(pod(cpu=2)).verdicts

    assert [(each.rows, each.refusal is None, each.sentence) for each in found] == [
        ((1,), True, ""),
        ((0,), False, "cpu: largest free is 1 of 1, 2 asked"),
    ]


def test_a_pod_of_two_containers_is_placed_exactly_where_vectors_cannot_be_sure() -> None:
    one = pod(gpu=1, gpumem=20_000)
    containers = tuple(replace(one.spec.containers[0], name=name) for name in "ab")
    who = replace(one, spec=replace(one.spec, containers=containers))

    found = Cluster([node(cards=cards(1))]).explain(who)

    assert not found.fits
    assert found.verdicts[0].sentence.startswith("the only device lacks memory")


# Devices


def test_every_device_has_the_first_reason_that_refuses_it() -> None:
    kinds = [
        card("sick", is_healthy=False),
        card("other", model="NVIDIA-T4"),
        card("small", memory=100),
        card("good"),
    ]
    who = pod(gpu=2, gpumem=1000, annotations={"nvidia.com/use-gputype": "A10"})

    found = listed(who, node(cards=kinds))

    assert [(each.device.id, each.reason) for each in found] == [
        ("sick", "CardNotHealth"),
        ("other", "CardTypeMismatch"),
        ("small", "CardInsufficientMemory"),
        ("good", "AllocatedCardsInsufficientRequest"),
    ]


def test_on_a_node_that_takes_the_pod_devices_that_would_do_have_no_reason() -> None:
    found = listed(pod(gpu=1, gpumem=1000), node(cards=[card("a"), card("b", memory=10)]))

    assert [each.reason for each in found] == ["", "CardInsufficientMemory"]


def test_a_node_with_too_few_devices_says_so_of_each() -> None:
    found = listed(pod(gpu=3, gpumem=10), node(cards=cards(2)))

    assert [each.reason for each in found] == ["NodeInsufficientDevice"] * 2


def test_devices_are_not_looked_at_where_a_rule_refuses_the_node_before() -> None:
    found = listed(pod(gpu=1, gpumem=10, cpu=99), node(cards=cards(2)))

    assert found == []


def test_the_use_of_each_device_is_told() -> None:
    taken = running("r", "n1", card="GPU-1", gpumem=5000, gpucores=30)

    found = listed(pod(gpu=1, gpumem=90_000), node("n1", cards=cards(2)), (taken,))

    assert [(each.use.memory_mib, each.use.cores, each.use.slots) for each in found] == [
        (0, 0, 0),
        (5000, 30, 1),
    ]


# Sentences about devices


def said(who: Pod, *devices: Device, placed: tuple[Pod, ...] = ()) -> str:
    """Return what is said of the only node with these devices."""
    (found,) = sentences(who, node("n1", cards=devices), placed=placed)
    return found


def test_part_of_a_device_is_told_in_percent() -> None:
    taken = running("r", "n1", card="a", gpumem=6144)

    whole = said(pod(gpu=1), card("a"), placed=(taken,))
    part = said(pod(gpu=1, others={"nvidia.com/gpumem-percentage": 80}), card("a"), placed=(taken,))

    assert whole == "the only device lacks memory: the freest has 75% free, a whole device asked"
    assert part == "the only device lacks memory: the freest has 75% free, 80% asked"


def test_of_a_device_in_use_its_size_is_told_too() -> None:
    taken = running("r", "n1", card="a", gpumem=4096)

    found = said(pod(gpu=1, gpumem=22_000), card("a"), placed=(taken,))

    assert (
        found == "the only device lacks memory: largest free is 20 GiB of 24 GiB, 22000 MiB asked"
    )


def test_several_reasons_are_told_one_after_the_other() -> None:
    found = said(pod(gpu=1, gpumem=1000, gpucores=60), card("a", memory=10), card("b", cores=50))

    assert found == (
        "1 of 2 devices lacks cores: most free are 50, 60 asked; "
        "1 of 2 devices lacks memory: largest free is 10 MiB, 1000 MiB asked"
    )


def test_each_reason_of_devices_has_its_sentence() -> None:
    typed = {"nvidia.com/use-gputype": "H100"}
    named = {"nvidia.com/use-gpuuuid": "other"}
    shared = running("r", "n1", card="a", gpumem=1, gpucores=1)
    full = running("r", "n1", card="a", gpumem=1, gpucores=100)

    assert said(pod(gpu=1, gpumem=10, annotations=typed), card("a", model="NVIDIA-T4")) == (
        "the only device is of a type or mode that the pod does not accept: NVIDIA-T4"
    )
    assert said(pod(gpu=1, gpumem=10, annotations=named), card("a")) == (
        "the only device is not one that the pod names"
    )
    assert said(
        pod(gpu=1, gpumem=10), card("a", is_healthy=False), card("b", is_healthy=False)
    ) == ("both devices are unhealthy")
    assert said(pod(gpu=1, gpumem=10), card("a", slots=1), placed=(shared,)) == (
        "the only device has as many containers as may share one (1)"
    )
    assert said(pod(gpu=1, gpumem=10, gpucores=100), card("a"), placed=(shared,)) == (
        "the only device lacks cores: most free are 99, 100 asked"
    )
    assert (
        said(pod(gpu=1, gpumem=10), card("a"), placed=(full,)) == "the only device has no core left"
    )
    assert said(pod(gpu=2, gpumem=10), card("a"), card("b", is_healthy=False)) == (
        "1 of 2 devices would do, 2 asked; 1 of 2 devices is unhealthy"
    )
    assert (
        said(pod(gpu=2, gpumem=10), card("a"))
        == "the node has 1 device of type NVIDIA-A10, 2 asked"
    )


def test_a_device_that_is_in_use_cannot_be_had_alone() -> None:
    shared = running("r", "n1", card="a", gpumem=1)
    alone = {"hami.io/gpu-scheduler-policy": "mutex"}

    found = said(pod(gpu=1, gpumem=10, annotations=alone), card("a"), placed=(shared,))

    assert found == "the only device is in use, and the pod wants its devices for itself"


def test_a_node_without_devices_is_told_as_such() -> None:
    (found,) = sentences(pod(gpu=1, gpumem=10), node())

    assert found.startswith("no NVIDIA device is registered there")


# Sentences about rules


def test_each_rule_of_the_scheduler_has_its_sentence() -> None:
    wanted = {"zone": "a"}

    assert sentences(pod(cpu=2, memory="2Gi"), node(cpu=1, memory="1Gi")) == [
        "cpu: largest free is 1 of 1, 2 asked; memory: largest free is 1Gi of 1Gi, 2Gi asked"
    ]
    assert sentences(pod(others={"example.com/x": 1}), node()) == ["no node has example.com/x"]
    assert sentences(pod(), node(pods=0)) == [
        "no room for another pod: 0 may run on a node, and as many do"
    ]
    assert sentences(pod(selector=wanted), node(labels={"zone": "b"})) == [
        "the pod wants zone=a; here it is b"
    ]
    assert sentences(pod(selector=wanted), node()) == ["the pod wants zone=a; here it is not set"]
    assert sentences(pod(terms=(term("zone", "Exists"),)), node()) == [
        "the labels meet no term of the required node affinity"
    ]
    assert sentences(pod(), node(is_unschedulable=True)) == [
        "the node is cordoned; kubectl uncordon undoes that"
    ]


def test_a_resource_that_only_other_nodes_have_is_told_as_such() -> None:
    nodes = [node("n1"), node("n2", others={"example.com/x": 1}, is_unschedulable=True)]

    found = sentences(pod(others={"example.com/x": 1}), *nodes)

    assert "the node has no example.com/x, 1 asked" in found


def test_an_ask_that_makes_no_sense_says_what_to_write() -> None:
    found = Cluster([node(cards=cards(1))]).explain(
        pod(gpu=1, others={"nvidia.com/gpumem": "16Gi"})
    )

    assert [each.sentence for each in found.verdicts] == ["memory is counted in MiB: write 16384"]
    assert found.changes == ()
