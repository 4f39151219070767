"""What a pod holds from its placement to its end, and what a template is told, as HAMi's tests have it."""

import pytest
from msgspec import structs

from springtide.model.pod import Pod
from tests.clusters import VGPU_NODE
from tests.unit.vendors.nvidia.building import (
    ALLOCATED,
    DEVICE_POLICY,
    Cluster,
    card,
    cards,
    container,
    pod,
    registered,
)

UNREGISTERED = "node unregistered"


def warmed() -> Pod:
    """Return a pod whose init container takes more of its card than the app container."""
    return pod(
        container("app", gpu=1, mem=10000, cores=5),
        init=[container("warm", gpu=1, mem=20000, cores=10)],
        annotations={
            VGPU_NODE: "n1",
            ALLOCATED: "GPU-a,NVIDIA,20000,10:;GPU-a,NVIDIA,10000,5:;",
        },
    )


@pytest.fixture
def cluster() -> Cluster:
    return Cluster(registered([card(memory_mib=40960)]))


def test_t64_init_and_app_containers_share_the_card_of_the_fullest_node() -> None:
    cluster = Cluster(
        registered(cards("device1", "device2", memory_mib=8000), name="node1"),
        registered(cards("device3", "device4", memory_mib=8000), name="node2"),
    )
    cluster.run("r1", "node1", "device1,NVIDIA,2000,25:;")
    cluster.run("r2", "node2", "device4,NVIDIA,6000,75:;")
    wanted = pod(
        container(gpu=1, mem=4000),
        init=[container("warm", gpu=1, mem=5000)],
        annotations={DEVICE_POLICY: "binpack"},
    )

    node, allocation = cluster.schedule(wanted)

    assert node == "node2"
    assert [[each.device_id for each in grants] for grants in allocation.containers] == [
        ["device3"],
        ["device3"],
    ]


def test_t69_a_pod_costs_the_larger_of_its_phases(cluster: Cluster) -> None:
    cluster.hold(warmed())

    assert cluster.use("n1") == {"GPU-a": (1, 20000, 10)}


def test_t70_t71_once_the_init_containers_have_ended_it_costs_what_runs(cluster: Cluster) -> None:
    cluster.hold(warmed())
    started = structs.replace(warmed(), is_init_done=True)

    for _ in range(2):
        cluster.ledger.release(started.uid)
        cluster.hold(started)

        assert cluster.use("n1") == {"GPU-a": (1, 10000, 5)}


def test_t72_every_app_container_takes_a_slot(cluster: Cluster) -> None:
    cluster.run("two", "n1", "GPU-a,NVIDIA,1000,0:;GPU-a,NVIDIA,1000,0:;")

    assert cluster.use("n1") == {"GPU-a": (2, 2000, 0)}


def test_t75_a_card_that_the_node_does_not_have_costs_nothing(cluster: Cluster) -> None:
    cluster.run("gone", "n1", "GPU-gone,NVIDIA,1000,10:;")

    assert cluster.use("n1") == {"GPU-a": (0, 0, 0)}


@pytest.mark.parametrize(
    ("limits", "answer"),
    [
        pytest.param({"mem": 1024, "cores": 20}, "GPU-a,NVIDIA,1024,20:;", id="T126"),
        pytest.param({"mem": 16384}, "1/1 CardInsufficientMemory", id="T128"),
    ],
)
def test_a_template_is_judged_and_left_as_it_is(limits: dict[str, str | int], answer: str) -> None:
    template = Cluster(registered([card(memory_mib=8192)], name="template"))
    wanted = pod(container(gpu=1, **limits))

    assert template.texts(wanted) == {"template": answer}
    assert template.use("template") == {"GPU-a": (0, 0, 0)}
    assert not wanted.annotations


def test_t130_every_template_that_fits_is_named_in_the_order_asked() -> None:
    templates = Cluster(*(registered([card()], name=name) for name in ("c", "a", "b")))

    answers = templates.texts(pod(container(gpu=1, mem=1024)))

    assert list(answers.items()) == [(name, "GPU-a,NVIDIA,1024,0:;") for name in ("c", "a", "b")]
