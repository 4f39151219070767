"""The law of headroom: it equals placing one pod after the other until none fits."""

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from springtide.model.device import Device
from springtide.model.node import Node
from springtide.model.pod import Pod
from tests.builders import card, cards, mig_card, node, pod
from tests.estimates import tables_of
from tests.headrooms import ledger_of, one_by_one, room_of, told
from tests.ledgers import content

NODES: st.SearchStrategy[Node] = st.builds(
    node,
    cpu=st.sampled_from([1, 4, 8]),
    memory=st.sampled_from(["2Gi", "64Gi"]),
    pods=st.sampled_from([3, 10, 30]),
    others=st.sampled_from([{}, {"example.com/x": 3}]),
    labels=st.sampled_from([{}, {"zone": "a"}]),
    is_unschedulable=st.sampled_from([False, False, False, True]),
)
CARDS = st.builds(
    card,
    memory=st.sampled_from([10000, 24576]),
    cores=st.sampled_from([100, 100, 0, 200]),
    slots=st.sampled_from([1, 2, 4, 10]),
    model=st.sampled_from(["NVIDIA-A10", "NVIDIA-A100", "NVIDIA"]),
    numa=st.integers(0, 1),
    is_healthy=st.sampled_from([True, True, True, False]),
)


def named(devices: Sequence[Device]) -> tuple[Device, ...]:
    """Return the cards under ids of their own, and in their places."""
    return tuple(
        replace(each, id=f"GPU-{index}", index=index) for index, each in enumerate(devices)
    )


DEVICES = st.one_of(
    st.just(()),
    st.lists(CARDS, min_size=1, max_size=4).map(named),
    st.sampled_from(
        [cards(4), (mig_card(),), (mig_card(), card("GPU-1")), (card("GPU-0"), card("GPU-0"))]
    ),
)
PLAIN = st.builds(
    pod,
    cpu=st.sampled_from(["0", "100m", "300m", "1", "5"]),
    memory=st.sampled_from(["0", "100Mi", "1Gi"]),
    others=st.sampled_from([{}, {}, {"example.com/x": 1}, {"example.com/y": 1}]),
    ports=st.sampled_from([(), (), (80,), (80, 81)]),
    selector=st.sampled_from([{}, {}, {"zone": "a"}]),
)
ON_CARDS = st.builds(
    pod,
    cpu=st.sampled_from(["0", "500m"]),
    gpu=st.integers(1, 3),
    gpumem=st.sampled_from([0, 1000, 5000, 9000, 20000, 50000]),
    gpucores=st.sampled_from([0, 0, 30, 100]),
    annotations=st.sampled_from(
        [
            {},
            {},
            {"hami.io/gpu-scheduler-policy": "binpack"},
            {"hami.io/gpu-scheduler-policy": "mutex"},
            {"hami.io/gpu-scheduler-policy": "topology-aware"},
            {"nvidia.com/numa-bind": "true"},
            {"nvidia.com/nouse-gputype": "A100"},
            {"nvidia.com/use-gpuuuid": "GPU-1,GPU-2"},
            {"nvidia.com/nouse-gpuuuid": "GPU-0"},
        ]
    ),
)


def in_two_containers(one: Pod, other: Pod) -> Pod:
    """Return a pod with the containers of both."""
    containers = tuple(
        replace(each, name=f"c{index}")
        for index, each in enumerate((*one.spec.containers, *other.spec.containers))
    )
    return replace(one, spec=replace(one.spec, containers=containers))


PODS = st.one_of(
    PLAIN, ON_CARDS, ON_CARDS, st.builds(in_two_containers, ON_CARDS, ON_CARDS | PLAIN)
)
RUNNING = st.lists(st.tuples(PODS, st.integers(0, 3)), max_size=5)


@settings(max_examples=300)
@given(
    nodes=st.lists(st.tuples(NODES, DEVICES), min_size=1, max_size=4), running=RUNNING, asked=PODS
)
def test_headroom_equals_placing_one_by_one(
    nodes: list[tuple[Node, Sequence[Device]]], running: list[tuple[Pod, int]], asked: Pod
) -> None:
    ledger = ledger_of(nodes, running)
    before = content(ledger)

    answer = room_of(asked, ledger)

    assert told(answer) == one_by_one(asked, tables_of(ledger))
    assert content(ledger) == before
    assert not answer.is_cut


POLICIES = st.sampled_from(["spread", "binpack", "mutex", "topology-aware", "numa"])
BOUND = st.sampled_from([{}, {"nvidia.com/numa-bind": "true"}])
IDS = st.sampled_from(
    [{}, {}, {"nvidia.com/use-gpuuuid": "GPU-1,GPU-2"}, {"nvidia.com/nouse-gpuuuid": "GPU-0"}]
)
GREEDY = st.builds(
    lambda gpu, gpumem, gpucores, policy, bound, ids: pod(
        gpu=gpu,
        gpumem=gpumem,
        gpucores=gpucores,
        annotations={"hami.io/gpu-scheduler-policy": policy, **bound, **ids},
    ),
    st.integers(1, 3),
    st.sampled_from([0, 1000, 3000, 5000, 9000]),
    st.sampled_from([0, 30, 100]),
    POLICIES,
    BOUND,
    IDS,
)
WIDE = node(cpu=64, memory="640Gi", pods=500)
FLEETS = st.lists(
    st.tuples(
        st.just(WIDE),
        st.one_of(
            st.lists(CARDS, min_size=2, max_size=5).map(named),
            st.sampled_from([cards(3), cards(3)[::-1]]),
            st.lists(st.sampled_from([card("GPU-0"), card("GPU-1")]), min_size=2, max_size=4),
            st.just((mig_card(), card("GPU-1"), card("GPU-2"))),
        ),
    ),
    min_size=1,
    max_size=3,
)


@settings(max_examples=500)
@given(
    nodes=FLEETS,
    running=st.lists(st.tuples(GREEDY, st.integers(0, 2)), max_size=6),
    asked=st.one_of(GREEDY, GREEDY, st.builds(in_two_containers, GREEDY, GREEDY)),
)
def test_devices_are_filled_as_by_one_after_the_other(
    nodes: list[tuple[Node, Sequence[Device]]], running: list[tuple[Pod, int]], asked: Pod
) -> None:
    ledger = ledger_of(nodes, running)

    answer = room_of(asked, ledger)

    assert told(answer) == one_by_one(asked, tables_of(ledger))
