"""The policy `fragmentation`: what it prefers, and what it knows of the pods that come."""

import pytest

from springtide.engine.framework.framework import Framework, FrameworkConfig
from springtide.engine.placement.choice import best_fit
from springtide.engine.placement.classes import Classifier, PodClass
from springtide.engine.placement.placing import Placement, holding
from springtide.engine.placement.policy import PolicyTable
from springtide.engine.placement.tables import Tables
from springtide.model.device import Inventory
from springtide.model.ledger import Ledger
from springtide.model.pod import Pod
from springtide.policies.fragmentation import NAME, Fragmentation
from springtide.policies.fragmentation.shapes import FIRST_PODS, SEEN_MAX, SHAPES_MAX, Shapes
from springtide.vendors.nvidia import Nvidia
from tests.builders import cards, node, pod

NVIDIA = Nvidia(node_policy=NAME, device_policy=NAME)
FAMILIES = {NVIDIA.name: NVIDIA}
CLASSIFY = Classifier(FAMILIES).classify
MANAGED = FrameworkConfig(ignored_resources=NVIDIA.resource_names())


class Cluster:
    """Nodes with two cards of 10,000 MiB each, on which pods are placed by the policy."""

    def __init__(self, *cpus: int) -> None:
        self.ledger = Ledger()
        for number, cpu in enumerate(cpus):
            inventory = Inventory("NVIDIA", cards(2, memory=10_000))
            self.ledger.add_node(node(f"n{number}", cpu=cpu), {"NVIDIA": inventory})
        self.policy = Fragmentation(FAMILIES)
        table = PolicyTable({NAME: self.policy}, by_default=NAME)
        self.tables = Tables(self.ledger, Framework(MANAGED), FAMILIES, policies=table)

    def expects(self, *pods: Pod) -> None:
        """Let so many of these pods have been seen that they are what is expected."""
        for each in pods * FIRST_PODS:
            self.policy.see(CLASSIFY(each))

    def place(self, wanted: Pod, *, row: int | None = None) -> tuple[int, list[int]]:
        """Place a pod, on the best row or on this one, and return its row and cards."""
        pod_class = CLASSIFY(wanted)
        if row is None:
            found = best_fit(pod_class, self.tables)
        else:
            answer = self.tables.place(pod_class, row)
            found = answer if isinstance(answer, Placement) else None
        assert found is not None
        self.ledger.hold(holding(f"{len(self.ledger.holdings)}", pod_class, found))
        return found.row, [share.position for _, shares in found.shares for share in shares]


def test_a_small_pod_goes_where_a_large_one_does_not_fit_anyway() -> None:
    cluster = Cluster(8, 8)
    cluster.expects(pod(gpu=1, gpumem=10_000), pod(gpu=1, gpumem=4000))
    cluster.place(pod(gpu=1, gpumem=4000), row=1)

    row, _ = cluster.place(pod(gpu=1, gpumem=4000))

    assert row == 1


def test_of_the_cards_of_a_node_the_one_that_is_spoilt_already_is_taken() -> None:
    cluster = Cluster(8)
    cluster.expects(pod(gpu=1, gpumem=10_000), pod(gpu=1, gpumem=4000))
    _, first = cluster.place(pod(gpu=1, gpumem=4000))

    _, second = cluster.place(pod(gpu=1, gpumem=4000))

    assert second == first


def test_pods_that_want_much_cpu_keep_off_nodes_whose_cards_need_it() -> None:
    cluster = Cluster(8, 64)
    cluster.expects(pod(cpu=3, gpu=1, gpumem=10_000))

    row, _ = cluster.place(pod(cpu=6))

    assert row == 1


def test_pods_keep_off_nodes_whose_cpu_would_end_before_their_cards() -> None:
    cluster = Cluster(12, 64)
    cluster.expects(pod(cpu=3, gpu=1, gpumem=10_000))

    row, _ = cluster.place(pod(cpu=9))

    assert row == 1


def test_what_cpu_may_not_last_for_counts_less_than_a_card_that_is_spoilt() -> None:
    cluster = Cluster(12, 64)
    cluster.expects(pod(cpu=3, gpu=1, gpumem=5000))
    cluster.place(pod(cpu=1, gpu=1, gpumem=3000), row=0)
    cluster.place(pod(cpu=1, gpu=2, gpumem=5000), row=1)

    row, _ = cluster.place(pod(cpu=8, gpu=1, gpumem=1000))

    assert row == 0


def test_a_cluster_that_has_seen_nobody_is_filled_from_the_first_node_on() -> None:
    cluster = Cluster(8, 8, 8)

    rows = [cluster.place(pod(cpu=1, gpu=1, gpumem=9_000))[0] for _ in range(6)]

    assert rows == [0, 0, 1, 1, 2, 2]


def test_pods_that_name_another_policy_are_placed_by_their_family() -> None:
    cluster = Cluster(8, 8)
    cluster.expects(pod(gpu=1, gpumem=10_000), pod(gpu=1, gpumem=4000))
    cluster.place(pod(gpu=1, gpumem=4000), row=1)
    spread = {"hami.io/node-scheduler-policy": "spread", "hami.io/gpu-scheduler-policy": "spread"}

    row, _ = cluster.place(pod(gpu=1, gpumem=4000, annotations=spread))
    _, other = cluster.place(pod(gpu=1, gpumem=4000, annotations=spread), row=0)

    assert row == 0
    assert other == [0]


def seen(shapes: Shapes, wanted: Pod, count: int) -> PodClass:
    pod_class = CLASSIFY(wanted)
    for _ in range(count):
        shapes.see(pod_class)
    return pod_class


def test_shapes_are_picked_anew_whenever_three_times_as_many_pods_were_seen() -> None:
    shapes = Shapes()

    versions = []
    for _ in range(9 * FIRST_PODS):
        seen(shapes, pod(gpu=1), 1)
        versions.append(shapes.version)

    picked = [versions.index(version) + 1 for version in (1, 2, 3)]
    assert picked == [FIRST_PODS, 3 * FIRST_PODS, 9 * FIRST_PODS]


def test_rare_pods_are_no_shape_and_memory_parts_none() -> None:
    shapes = Shapes()

    seen(shapes, pod(gpu=1, gpumem=1), 2)
    seen(shapes, pod(cpu=1, memory="1Gi", gpu=1), 30)
    seen(shapes, pod(cpu=1, memory="3Gi", gpu=1), 32)

    assert [(each.cpu_milli, each.weight) for each in shapes.picked] == [(1000, 62)]


def test_pods_without_devices_count_for_nothing() -> None:
    shapes = Shapes()

    seen(shapes, pod(cpu=1), 100)

    assert (shapes.version, shapes.picked) == (0, ())


def test_a_cluster_forgets_what_has_not_come_for_long() -> None:
    shapes = Shapes()
    shapes.see(CLASSIFY(pod(gpu=1, gpumem=1000)), SEEN_MAX // 2)
    shapes.see(CLASSIFY(pod(gpu=1, gpumem=2000)), 6 * SEEN_MAX)

    for _ in range(40):
        shapes.see(CLASSIFY(pod(gpu=1, gpumem=2000)), SEEN_MAX // 4)

    assert len(shapes.picked) == 1
    assert shapes.weight <= SEEN_MAX


def test_there_is_a_bound_to_the_number_of_shapes() -> None:
    shapes = Shapes()

    for memory_mib in range(1, 4 * SHAPES_MAX + 1):
        seen(shapes, pod(gpu=1, gpumem=memory_mib), 1)

    assert len(shapes.picked) == SHAPES_MAX


@pytest.mark.parametrize("policy", ["fragmentation", "mutex, fragmentation"])
def test_an_annotation_asks_for_the_policy_of_devices(policy: str) -> None:
    table = PolicyTable({NAME: Fragmentation(FAMILIES)})
    ask = CLASSIFY(pod(gpu=1, annotations={"hami.io/gpu-scheduler-policy": policy})).asks[0]

    assert table.for_devices(ask) is not None
