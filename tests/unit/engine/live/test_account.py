"""What the live scheduler goes by, as nodes and pods that say it themselves."""

from msgspec.structs import replace

from springtide.base.annotations import NODE
from springtide.engine.live import CreateBinding, Failed, Fault, node_as_used, pods_as_held
from springtide.model.node import Node
from springtide.model.pod import Pod
from tests.builders import REGISTRATION, card, pod
from tests.living import Cluster, gpu_node, stored

ALLOCATED = "hami.io/vgpu-devices-allocated"


def told(cluster: Cluster, name: str) -> Node:
    """Return a node as it is told to others."""
    known = cluster.live.stock.get(name)
    assert known is not None
    return node_as_used(known, cluster.families)


def waiting(cluster: Cluster, *, memory: int = 1000) -> Pod:
    train = stored(pod("train", gpu=1, gpumem=memory))
    return cluster.create(train)


def test_a_node_that_says_what_is_used_of_it_is_told_as_it_is() -> None:
    cluster = Cluster()
    cluster.add(gpu_node("n1", card()))

    assert told(cluster, "n1") is cluster.nodes["n1"]


def test_a_registration_that_cannot_be_read_is_told_as_the_one_before() -> None:
    cluster = Cluster()
    cluster.add(gpu_node("n1", card()))
    before = cluster.nodes["n1"].annotations[REGISTRATION]
    cluster.annotate("n1", {REGISTRATION: "[{"})

    assert told(cluster, "n1").annotations[REGISTRATION] == before


def test_one_that_never_could_be_read_is_told_as_it_is() -> None:
    cluster = Cluster()
    cluster.add(replace(gpu_node("n1", card()), annotations={REGISTRATION: "[{"}))

    assert told(cluster, "n1").annotations[REGISTRATION] == "[{"


def test_devices_that_are_not_used_any_more_are_not_told() -> None:
    cluster = Cluster()
    notes = {"hami.io/node-handshake": "Requesting_2020-01-01 00:00:00"}
    cluster.add(gpu_node("n1", card(), count=0, notes=notes))

    assert REGISTRATION not in told(cluster, "n1").annotations


def test_what_is_held_but_not_heard_of_is_told() -> None:
    cluster = Cluster()
    cluster.add(gpu_node("n1", card()))
    train = waiting(cluster)
    cluster.tells = False
    cluster.filter(train)

    (held,) = pods_as_held(cluster.live).values()

    assert NODE not in train.annotations
    assert held.annotations[NODE] == "n1"
    assert held.annotations[ALLOCATED] == cluster.pods[train.uid].annotations[ALLOCATED]


def test_what_is_written_but_given_up_is_not_told() -> None:
    cluster = Cluster()
    cluster.add(gpu_node("n1", card()))
    train = waiting(cluster)
    cluster.filter(train)
    cluster.live.take_back(train.uid)

    (given_up,) = pods_as_held(cluster.live).values()

    assert NODE not in given_up.annotations


def test_a_pod_that_is_asked_about_waits_although_a_failed_bind_has_left_it_its_devices() -> None:
    cluster = Cluster()
    cluster.add(gpu_node("n1", card()))
    train = waiting(cluster)
    cluster.filter(train)
    cluster.bind_faults[CreateBinding] = [Failed(fault=Fault.CONFLICT, message="no")]
    cluster.bind(train.uid, "n1")

    assert train.uid in pods_as_held(cluster.live)
    assert train.uid not in pods_as_held(cluster.live, apart_from=(train.uid,))
