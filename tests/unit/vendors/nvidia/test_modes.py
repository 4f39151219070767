"""Cards of several modes on one node: shared in time, by MPS, or cut into MIG instances."""

import pytest

from springtide.vendors.nvidia import Nvidia
from tests.unit.vendors.nvidia.building import (
    DEVICE_POLICY,
    Cluster,
    card,
    container,
    ids,
    mig_card,
    pod,
    registered,
)

MODE = "nvidia.com/vgpu-mode"
CORE = card("core", memory_mib=40960)
MPS = card("mps", index=1, memory_mib=40960, mode="mps")
MIG = mig_card("mig", index=2)


def mixed(*, is_strict: bool = False) -> Cluster:
    return Cluster(registered([CORE, MPS, MIG]), family=Nvidia(is_strict=is_strict))


def notes(mode: str | None, policy: str = "spread") -> dict[str, str]:
    return {DEVICE_POLICY: policy} | ({} if mode is None else {MODE: mode})


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        (None, "mig,NVIDIA,5120,14:;"),
        ("mig", "mig,NVIDIA,5120,14:;"),
        ("mps", "mps,NVIDIA,4000,0:;"),
        ("hami-core", "core,NVIDIA,4000,0:;"),
        ("hami-core,mps", "mps,NVIDIA,4000,0:;"),
        ("exclusive", "3/3 CardTypeMismatch"),
        ("MPS", "3/3 CardTypeMismatch"),
    ],
)
def test_the_mode_that_a_pod_names_decides_which_cards_serve(
    mode: str | None, expected: str
) -> None:
    assert mixed().texts(pod(container(gpu=1, mem=4000), annotations=notes(mode))) == {
        "n1": expected
    }


def test_a_card_without_a_mode_serves_pods_of_every_mode() -> None:
    cluster = Cluster(registered([card("old", mode="")]))

    for mode in (None, "mps", "mig", "hami-core"):
        answer = cluster.texts(pod(container(gpu=1, mem=10), annotations=notes(mode)))
        assert answer == {"n1": "old,NVIDIA,10,0:;"}


def test_mps_cards_are_shared_by_memory_cores_and_slots_like_others() -> None:
    cluster = Cluster(registered([MPS]))
    for number in range(3):
        wanted = pod(
            container(gpu=1, mem=10000, cores=30), annotations=notes("mps"), name=f"p{number}"
        )
        cluster.schedule(wanted)

    more_memory = pod(container(gpu=1, mem=12000, cores=1), annotations=notes("mps"), name="m")
    more_cores = pod(container(gpu=1, mem=100, cores=20), annotations=notes("mps"), name="c")

    assert cluster.use("n1") == {"mps": (3, 30000, 90)}
    assert cluster.texts(more_memory) == {"n1": "1/1 CardInsufficientMemory"}
    assert cluster.texts(more_cores) == {"n1": "1/1 CardInsufficientCore"}


def test_a_pod_may_hold_cards_of_several_modes() -> None:
    _, allocation = mixed().schedule(
        pod(container(gpu=3, mem=4000), annotations=notes("hami-core,mps,mig"))
    )

    grants = allocation.containers[0]
    assert [(each.device_id, each.memory_mib) for each in grants] == [
        ("mig", 5120),
        ("mig", 5120),
        ("mig", 5120),
    ]


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        (None, ["mig"] * 4),
        ("mig", ["mig"] * 4),
        ("hami-core,mps", "NodeInsufficientDevice"),
    ],
)
def test_more_than_there_are_cards_only_instances_can_serve(
    mode: str | None, expected: list[str] | str
) -> None:
    cluster = mixed()
    wanted = pod(container(gpu=4, mem=4000), annotations=notes(mode))

    answer = cluster.texts(wanted)["n1"]

    if isinstance(expected, str):
        assert answer == expected
    else:
        assert ids(cluster.schedule(wanted)[1]) == [expected]


def test_too_few_cards_of_the_mode_are_told_with_the_others() -> None:
    answer = mixed().texts(pod(container(gpu=2, mem=4000), annotations=notes("mps")))["n1"]

    assert answer == "1/3 AllocatedCardsInsufficientRequest, 2/3 CardTypeMismatch"


def test_an_mps_card_keeps_what_was_reserved_of_it_as_an_instance() -> None:
    reservation = (
        '[{"containerIndex":0,"deviceIndex":0,"gpuUUID":"mps","profile":"1g.5gb",'
        '"placement":{"start":6,"size":1}}]'
    )
    cluster = mixed()
    key = "hami.io/vgpu-mig-allocations"
    cluster.run("odd", "n1", "mps,NVIDIA,5120,14:;", **{key: reservation})

    answer = cluster.texts(pod(container(gpu=1, mem=1000), annotations=notes("mps"), name="next"))

    assert cluster.use("n1")["mps"] == (1, 5120, 14)
    assert answer == {"n1": "mps,NVIDIA,1000,0:;"}


@pytest.mark.parametrize(
    ("is_strict", "expected"), [(False, {"GPU-4", "GPU-5", "GPU-6", "GPU-7"}), (True, {"GPU-7"})]
)
def test_fc_034_strictly_every_free_instance_is_a_candidate_of_its_own(
    expected: set[str], *, is_strict: bool
) -> None:
    devices = [mig_card(f"GPU-{index}", index=index) for index in range(8)]
    cluster = Cluster(registered(devices), family=Nvidia(is_strict=is_strict))
    wanted = pod(container(gpu=4, mem=5000), annotations=notes("mig", "topology-aware"))

    _, allocation = cluster.schedule(wanted)

    assert set(ids(allocation)[0]) == expected


def test_strictly_links_still_part_instances() -> None:
    pair = {"GPU-a": {"GPU-b": 100}, "GPU-b": {"GPU-a": 100}}
    devices = [
        card(name, index=index, links=pair.get(name), mode="hami-core")
        for index, name in enumerate(("GPU-a", "GPU-b"))
    ]
    whole = mig_card("GPU-m", index=2)
    cluster = Cluster(registered([*devices, whole]), family=Nvidia(is_strict=True))
    wanted = pod(container(gpu=2, mem=5000), annotations={DEVICE_POLICY: "topology-aware"})

    _, allocation = cluster.schedule(wanted)

    assert set(ids(allocation)[0]) == {"GPU-a", "GPU-b"}


def test_strictly_too_few_instances_are_all_counted() -> None:
    cluster = Cluster(registered([mig_card()]), family=Nvidia(is_strict=True))
    wanted = pod(container(gpu=5, mem=10000), annotations=notes("mig", "topology-aware"))

    assert cluster.texts(wanted) == {
        "n1": "1/1 CardMigTopologyInfeasible, 3/1 AllocatedCardsInsufficientRequest"
    }
