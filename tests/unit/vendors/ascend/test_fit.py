"""Exact placement on one node."""

import pytest

from springtide.model.device import Allocation, Use
from springtide.vendors.ascend import FAMILY
from tests.unit.vendors.ascend.building import (
    DEVICE_POLICY,
    SOFT,
    SOFT_NODE,
    Cluster,
    ask,
    chip,
    chips,
    container,
    ids,
    place,
    pod,
    registered,
    view,
)

C = "Ascend910C"
Limits = dict[str, str | int]


def test_t107_chips_of_one_network_are_given_together() -> None:
    node = view(*chips("a", "b", "c", networks=[0, 1, 0]))

    assert place(pod(container(count=2)), node) == [["c", "a"]]


def test_the_networks_with_the_most_chips_come_first() -> None:
    node = view(*chips("a", "b", "c", "d", "e", "f", networks=[2, 1, 1, 1, 2, 3]))

    assert place(pod(container(count=4)), node) == [["d", "c", "b", "e"]]


def test_networks_do_not_matter_where_a_chip_is_in_none() -> None:
    node = view(*chips("a", "b", "c", networks=[0, None, 0]))

    assert place(pod(container(count=2)), node) == [["c", "b"]]


def test_t108_the_soft_split_needs_a_node_that_supports_it() -> None:
    soft = pod(container(count=1, memory=1000, core=10), annotations=SOFT)

    assert place(soft, view(chip())) == "1/1 ModeNotFit"
    assert place(soft, view(chip(mode="hami-core"))) == [["NPU-0"]]


@pytest.mark.parametrize(
    ("indices", "expected"),
    [((0, 2), "0/2 AllocatedCardsInsufficientRequest"), ((0, 1, 2), [["c1", "c0"]])],
)
def test_t109_modules_are_given_whole(indices: tuple[int, ...], expected: object) -> None:
    node = view(*(chip(f"c{index}", word=C, index=index) for index in indices))

    assert place(pod(container("main", C, count=2)), node) == expected


def test_a_module_with_a_busy_chip_tells_why() -> None:
    node = view(
        chip("c0", word=C, slots=1),
        chip("c1", word=C, slots=1, index=1),
        uses=[Use(), Use(slots=1, memory_mib=65536)],
    )

    text = place(pod(container("main", C, count=2)), node)

    assert text == "0/2 AllocatedCardsInsufficientRequest, 1/2 CardTimeSlicingExhausted"


@pytest.mark.parametrize(
    ("use", "limits", "reason"),
    [
        (Use(slots=4), {"count": 1, "memory": 16384}, "CardTimeSlicingExhausted"),
        (Use(slots=1, memory_mib=60000), {"count": 1, "memory": 16384}, "CardInsufficientMemory"),
        (Use(slots=1, memory_mib=1), {"count": 1}, "CardInsufficientMemory"),
        (Use(slots=1, cores=20), {"count": 1, "memory": 16384}, "CardComputeUnitsExhausted"),
    ],
)
def test_a_chip_is_refused_for_the_first_check_that_fails(
    use: Use, limits: Limits, reason: str
) -> None:
    assert place(pod(container(**limits)), view(chip(), uses=[use])) == f"1/1 {reason}"


@pytest.mark.parametrize(
    ("use", "cores", "expected"),
    [
        (Use(slots=1, cores=60), 40, [["NPU-0"]]),
        (Use(slots=1, cores=60), 41, "1/1 CardInsufficientCore"),
        (Use(slots=1), 100, "1/1 ExclusiveDeviceAllocateConflict"),
        (Use(slots=1, cores=100), 0, "1/1 CardComputeUnitsExhausted"),
        (Use(), 120, [["NPU-0"]]),
    ],
)
def test_a_chip_counts_as_100_cores_under_the_soft_split(
    use: Use, cores: int, expected: object
) -> None:
    node = view(chip(mode="hami-core"), uses=[use])

    assert place(pod(container(count=1, memory=10, core=cores), annotations=SOFT), node) == expected


def test_unhealthy_and_unwanted_chips_are_not_given() -> None:
    node = view(chip("a", is_healthy=False), chip("b", index=1), chip("c", index=2))
    notes = {"hami.io/no-use-Ascend910B3-uuid": "c"}

    assert place(pod(container(count=1), annotations=notes), node) == [["b"]]
    assert place(pod(container(count=2), annotations=notes), node) == (
        "1/3 AllocatedCardsInsufficientRequest, 1/3 CardNotHealth, 1/3 CardUuidMismatch"
    )


def test_a_mutex_wants_chips_that_nobody_uses() -> None:
    node = view(chip(), uses=[Use(slots=1, memory_mib=16384)])
    alone = pod(container(count=1, memory=16384), annotations={DEVICE_POLICY: "mutex"})

    assert place(alone, node) == "1/1 ExclusiveDeviceAllocateConflict"


def test_other_chips_are_no_candidates_but_longer_names_are() -> None:
    longer = view(chip("b41", word="Ascend910B4-1", memory_mib=65536))

    assert place(pod(container("main", "Ascend910B3", count=1)), longer) == "NodeInsufficientDevice"
    assert place(pod(container("main", "Ascend910B4", count=1)), longer) == [["b41"]]


def test_grants_name_the_template_unless_split_softly() -> None:
    hard = pod(container(count=1, memory=10000))
    soft = pod(container(count=1, memory=16384), annotations=SOFT)

    answers = [FAMILY.place(ask(wanted), view(chip(mode="hami-core"))) for wanted in (hard, soft)]

    assert [
        answer.containers[0][0].profile for answer in answers if isinstance(answer, Allocation)
    ] == ["vir05_1c_16g", ""]


def test_app_containers_see_each_other_and_init_containers_do_not() -> None:
    cluster = Cluster(registered(chip()))
    half = {"count": 1, "memory": 32768}
    three = pod(
        container("a", **half), container("b", **half), init=[container("i", count=1)], name="three"
    )

    _, allocation = cluster.schedule(three)

    assert ids(allocation) == [["NPU-0"]] * 3
    assert cluster.use("n1") == {"NPU-0": (2, 65536, 0)}
    assert cluster.picks(pod(container(**half), name="late")) == {
        "n1": "1/1 CardInsufficientMemory"
    }


def test_a_container_gets_several_kinds_of_chip() -> None:
    node = registered(chip("b"), chip("p", word="Ascend310P", memory_mib=21527))
    both = pod(container(**{"huawei.com/Ascend910B3": 1, "huawei.com/Ascend310P": 1}))

    answer = Cluster(node).picks(both)

    assert answer == {"n1": [["b", "p"]]}


def test_soft_and_hard_pods_share_a_chip_that_supports_both() -> None:
    cluster = Cluster(registered(chip(), annotations=SOFT_NODE))
    cluster.schedule(pod(container(count=1, memory=16384), name="hard"))

    cluster.schedule(pod(container(count=1, memory=1000, core=50), annotations=SOFT, name="soft"))

    assert cluster.use("n1") == {"NPU-0": (2, 17384, 50)}
