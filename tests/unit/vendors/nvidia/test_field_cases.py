"""What users saw go wrong in the field, by number of the case, and the right outcome."""

import json

import pytest
from msgspec import structs

from springtide.model.device import Allocation
from springtide.model.refusal import Refusal
from springtide.vendors.nvidia import FAMILY, Nvidia, NvidiaAsk
from tests.clusters import VGPU_NODE, admitted
from tests.quotas import GPUCORES, GPUMEM, TEAM, QuotaCluster
from tests.unit.vendors.nvidia.building import (
    ALLOCATED,
    DEVICE_POLICY,
    NODE_POLICY,
    REGISTER,
    Cluster,
    ask,
    card,
    cards,
    container,
    ids,
    mig_card,
    pod,
    registered,
)


def test_fc_001_a_second_container_goes_to_the_card_that_still_has_room() -> None:
    cluster = Cluster(registered(cards("GPU-a", "GPU-b", memory_mib=10240)))
    duo = pod(container("trainer", gpu=1, mem=10240), container("helper", gpu=1, mem=1024))

    _, allocation = cluster.schedule(duo)

    (trainer,), (helper,) = ids(allocation)
    assert trainer != helper
    assert sorted(mib for _, mib, _ in cluster.use("n1").values()) == [1024, 10240]


def test_fc_002_positions_survive_containers_without_cards() -> None:
    cluster = Cluster(registered([card(memory_mib=15360)]))
    mixed = pod(container("c1", gpu=1, pct=50), container("c2"), container("c3", gpu=1, mem=2000))

    _, allocation = cluster.schedule(mixed)

    assert FAMILY.encode(allocation)[ALLOCATED] == "GPU-a,NVIDIA,7680,0:;;GPU-a,NVIDIA,2000,0:;"
    assert cluster.use("n1") == {"GPU-a": (2, 9680, 0)}


def test_fc_002_the_older_placeholder_is_no_card() -> None:
    written = {ALLOCATED: ",,0,0:;GPU-a,NVIDIA,1000,0:;,,0,0:;"}
    running = pod(container("a"), container("b"), container("c"), annotations=written)

    allocation = FAMILY.decode(running)

    assert isinstance(allocation, Allocation)
    assert ids(allocation) == [[], ["GPU-a"], []]
    assert allocation.containers[1][0].memory_mib == 1000


def test_fc_003_init_and_app_containers_cost_the_larger_of_both() -> None:
    etl = pod(
        container("app", gpu=1, mem=20480), init=[container("warm", gpu=1, mem=30720)], name="etl"
    )
    late = pod(container(gpu=1, mem=15000), name="late")
    cluster = Cluster(registered([card(memory_mib=40960)]))

    _, allocation = cluster.schedule(etl)
    assert cluster.use("n1") == {"GPU-a": (1, 30720, 0)}
    assert cluster.texts(late) == {"n1": "1/1 CardInsufficientMemory"}

    cluster.ledger.release(etl.uid)
    notes = FAMILY.encode(allocation) | {VGPU_NODE: "n1"}
    cluster.hold(structs.replace(admitted(Nvidia(), etl), annotations=notes, is_init_done=True))

    assert cluster.use("n1") == {"GPU-a": (1, 20480, 0)}
    assert cluster.texts(late) == {"n1": "GPU-a,NVIDIA,15000,0:;"}


def test_fc_004_every_container_that_runs_takes_a_slot() -> None:
    cluster = Cluster(registered([card(slots=2, memory_mib=40960)]))
    both = pod(container("a", gpu=1, mem=1000), container("b", gpu=1, mem=1000), name="both")

    cluster.schedule(both)

    assert cluster.use("n1") == {"GPU-a": (2, 2000, 0)}
    third = pod(container(gpu=1, mem=1000), name="third")
    assert cluster.texts(third) == {"n1": "1/1 CardTimeSlicingExhausted"}


def test_fc_005_a_bare_count_means_whole_exclusive_cards() -> None:
    cluster = Cluster(registered(cards("GPU-a", "GPU-b")))
    cluster.run("tiny", "n1", "GPU-b,NVIDIA,1,0:;")
    whole, two = pod(container(gpu=1)), pod(container(gpu=2))

    spec = FAMILY.admit(whole)

    assert not isinstance(spec, Refusal)
    limits = {name: str(quantity) for name, quantity in spec.containers[0].limits}
    assert limits == {"nvidia.com/gpu": "1", "nvidia.com/gpucores": "100"}
    assert cluster.texts(whole) == {"n1": "GPU-a,NVIDIA,24576,100:;"}
    refused = cluster.texts(two)["n1"]
    assert "1/2 CardInsufficientMemory" in refused
    assert "101" not in refused + repr(ask(two))


def test_fc_006_all_cores_are_exclusive_in_both_directions() -> None:
    cluster = Cluster(
        registered([card("GPU-a", memory_mib=16384)], name="n1"),
        registered([card("GPU-b", memory_mib=16384)], name="n2"),
    )
    cluster.run("owner", "n1", "GPU-a,NVIDIA,1000,100:;")
    cluster.run("guest", "n2", "GPU-b,NVIDIA,1000,0:;")

    without = cluster.texts(pod(container(gpu=1, mem=1000)))
    with_all = cluster.texts(pod(container(gpu=1, mem=1000, cores=100)))

    assert without["n1"] == "1/1 CardComputeUnitsExhausted"
    assert with_all["n2"] == "1/1 ExclusiveDeviceAllocateConflict"


def test_fc_007_a_percentage_of_0_is_no_free_pass() -> None:
    cluster = Cluster(
        registered([card("GPU-a", memory_mib=81920)], name="full"),
        registered([card("GPU-b", memory_mib=81920)], name="empty"),
    )
    cluster.run("big", "full", "GPU-a,NVIDIA,80000,0:;")

    texts = cluster.texts(pod(container(gpu=1, pct=0)))

    assert texts["full"] == "1/1 CardInsufficientMemory"
    assert texts["empty"].startswith("GPU-b,NVIDIA,81920,")


@pytest.mark.parametrize(
    ("limits", "resource"),
    [
        ({"gpu": 1, "mem": "16Gi"}, "nvidia.com/gpumem"),
        ({"gpu": 1, "mem": "2147483648"}, "nvidia.com/gpumem"),
        ({"gpu": 1, "mem": "1.5"}, "nvidia.com/gpumem"),
        ({"gpu": 1, "mem": "-1"}, "nvidia.com/gpumem"),
        ({"gpu": "3000000000"}, "nvidia.com/gpu"),
        ({"gpu": "500m"}, "nvidia.com/gpu"),
        ({"gpu": "-1"}, "nvidia.com/gpu"),
        ({"gpu": 1, "cores": "2147483648"}, "nvidia.com/gpucores"),
        ({"gpu": 1, "cores": "2500m"}, "nvidia.com/gpucores"),
        ({"gpu": 1, "pct": "12.5"}, "nvidia.com/gpumem-percentage"),
    ],
)
def test_fc_008_a_quantity_that_makes_no_sense_is_refused(
    limits: dict[str, str | int], resource: str
) -> None:
    refusal = FAMILY.ask(pod(container("suffix", **limits)))

    assert isinstance(refusal, Refusal)
    assert f"container suffix asks {resource}: " in refusal.text
    assert refusal.is_unresolvable


def test_fc_008_the_remedy_is_named() -> None:
    refusal = FAMILY.ask(pod(container(gpu=1, mem="16Gi")))

    assert isinstance(refusal, Refusal)
    assert refusal.detail == "memory is counted in MiB: write 16384"


def test_fc_009_allow_and_deny_lists_of_types_apply_together() -> None:
    cluster = Cluster(
        registered([card("GPU-a", model="NVIDIA-NVIDIA A10")], name="n1"),
        registered([card("GPU-b", model="NVIDIA-NVIDIA A100-SXM4-80GB")], name="n2"),
    )
    use, avoid = {"nvidia.com/use-gputype": "A10"}, {"nvidia.com/nouse-gputype": "A100"}

    both = cluster.texts(pod(container(gpu=1, mem=8000), annotations=use | avoid))
    allowed = cluster.texts(pod(container(gpu=1, mem=8000), annotations=use))

    assert both == {"n1": "GPU-a,NVIDIA,8000,0:;", "n2": "1/1 CardTypeMismatch"}
    assert allowed["n2"] == "GPU-b,NVIDIA,8000,0:;"


@pytest.mark.parametrize(
    ("notes", "count", "expected"),
    [
        ({"nvidia.com/use-gpuuuid": "GPU-b"}, 1, {"GPU-b"}),
        ({"nvidia.com/use-gpuuuid": "GPU-a, GPU-b ,GPU-c"}, 2, {"GPU-b", "GPU-c"}),
        ({"nvidia.com/use-gpuuuid": ""}, 1, {"GPU-c"}),
        ({"nvidia.com/nouse-gpuuuid": "GPU-a"}, 2, {"GPU-b", "GPU-c"}),
    ],
)
def test_fc_010_cards_are_pinned_by_exact_id(
    notes: dict[str, str], count: int, expected: set[str]
) -> None:
    cluster = Cluster(registered(cards("GPU-a", "GPU-b", "GPU-c")))

    _, allocation = cluster.schedule(pod(container(gpu=count, mem=1000), annotations=notes))

    assert set(ids(allocation)[0]) == expected
    assert len(ids(allocation)[0]) == count


def test_fc_010_a_list_shorter_than_the_count_counts_the_other_cards() -> None:
    cluster = Cluster(registered(cards("GPU-a", "GPU-b", "GPU-c")))
    short = pod(container(gpu=2, mem=1000), annotations={"nvidia.com/use-gpuuuid": "GPU-b"})

    assert "2/3 CardUuidMismatch" in cluster.texts(short)["n1"]
    assert ask(short).names_devices


def test_fc_011_n_gpus_are_n_different_cards() -> None:
    cluster = Cluster(registered([card()]))

    assert cluster.texts(pod(container(gpu=9, mem=500))) == {"n1": "NodeInsufficientDevice"}


@pytest.mark.parametrize(("policy", "expected"), [("spread", "GPU-3"), ("binpack", "GPU-0")])
def test_fc_012_load_comes_before_numa(policy: str, expected: str) -> None:
    devices = cards("GPU-0", "GPU-1", "GPU-2", "GPU-3", memory_mib=40960, numa=[0, 0, 1, 1])
    cluster = Cluster(registered(devices))
    cluster.run("r0", "n1", "GPU-0,NVIDIA,36000,80:;")
    cluster.run("r1", "n1", "GPU-1,NVIDIA,28000,60:;")
    cluster.run("r2", "n1", "GPU-2,NVIDIA,12000,20:;")

    wanted = pod(container(gpu=1, mem=4000), annotations={DEVICE_POLICY: policy})

    assert cluster.texts(wanted) == {"n1": f"{expected},NVIDIA,4000,0:;"}


@pytest.mark.parametrize(("notes", "node"), [({}, "nodeB"), ({NODE_POLICY: "spread"}, "nodeA")])
def test_fc_013_the_node_policy_packs_unless_told_to_spread(
    notes: dict[str, str], node: str
) -> None:
    cluster = Cluster(
        registered(cards("A0", "A1", "A2", "A3"), name="nodeA"),
        registered(cards("B0", "B1", "B2", "B3"), name="nodeB"),
    )
    cluster.run("r", "nodeB", "B0,NVIDIA,24576,100:;")

    chosen, _ = cluster.schedule(pod(container(gpu=1), annotations=notes))

    assert chosen == node


@pytest.mark.parametrize(("count", "expected"), [(2, {"GPU-c", "GPU-d"}), (1, {"GPU-b"})])
def test_fc_014_linked_pairs_stay_together(count: int, expected: set[str]) -> None:
    pairs = {
        "GPU-a": {"GPU-b": 100, "GPU-c": 10, "GPU-d": 10},
        "GPU-b": {"GPU-a": 100, "GPU-c": 10, "GPU-d": 10},
        "GPU-c": {"GPU-a": 10, "GPU-b": 10, "GPU-d": 100},
        "GPU-d": {"GPU-a": 10, "GPU-b": 10, "GPU-c": 100},
    }
    devices = [
        card(device_id, index=index, links=links)
        for index, (device_id, links) in enumerate(pairs.items())
    ]
    cluster = Cluster(registered(devices))
    cluster.run("r", "n1", "GPU-a,NVIDIA,24576,100:;")

    _, allocation = cluster.schedule(
        pod(container(gpu=count, mem=8000), annotations={DEVICE_POLICY: "topology-aware"})
    )

    assert set(ids(allocation)[0]) == expected


def test_fc_015_two_instances_may_come_from_one_mig_card() -> None:
    cluster = Cluster(registered([mig_card()]))
    wanted = pod(container(gpu=2, mem=4000), annotations={"nvidia.com/vgpu-mode": "mig"})

    _, allocation = cluster.schedule(wanted)

    first, second = allocation.containers[0]
    assert (first.memory_mib, second.memory_mib) == (5120, 5120)
    assert first.mig_placement is not None
    assert second.mig_placement is not None
    assert not first.mig_placement.overlaps(second.mig_placement)
    assert cluster.use("n1") == {"GPU-m": (2, 10240, 28)}
    plain = Cluster(registered([card()]))
    assert plain.texts(pod(container(gpu=2, mem=4000))) == {"n1": "NodeInsufficientDevice"}


def test_fc_020_a_pod_that_fell_back_to_pending_holds_nothing() -> None:
    written = {VGPU_NODE: "n1", ALLOCATED: "GPU-a,NVIDIA,24000,0:;"}
    stale = pod(name="stale", annotations=written | {"hami.io/bind-phase": "failed"})
    inflight = pod(name="inflight", annotations=written | {"hami.io/bind-phase": "allocating"})

    assert FAMILY.decode(stale) is None
    assert isinstance(FAMILY.decode(inflight), Allocation)


def test_fc_028_a_missing_health_flag_means_unhealthy() -> None:
    devices = cards("GPU-a", "GPU-b", numa=[0, 1])
    devices[1] = structs.replace(devices[1], is_healthy=False)
    cluster = Cluster(registered(devices))
    two = pod(container(gpu=2, mem=1000))

    refused = cluster.texts(two)["n1"]

    assert "1/2 CardNotHealth" in refused
    assert cluster.texts(pod(container(gpu=1, mem=1000))) == {"n1": "GPU-a,NVIDIA,1000,0:;"}
    healed = Cluster(registered(cards("GPU-a", "GPU-b", numa=[0, 1])))
    assert set(ids(healed.schedule(two)[1])[0]) == {"GPU-a", "GPU-b"}


def test_fc_029_numa_binding_takes_all_cards_from_one_socket_or_none() -> None:
    cluster = Cluster(
        registered(cards("GPU-a", "GPU-b", "GPU-c", "GPU-d", numa=[0, 0, 1, 1]), name="n1"),
        registered(cards("GPU-e", "GPU-f", numa=[0, 1]), name="n2"),
    )
    cluster.run("r", "n1", "GPU-b,NVIDIA,22528,0:;")
    bound = pod(container(gpu=2, mem=6000), annotations={"nvidia.com/numa-bind": "true"})

    answers = cluster.answers(bound)
    free = cluster.answers(pod(container(gpu=2, mem=6000)))

    assert isinstance(answers["n1"], Allocation)
    assert set(ids(answers["n1"])[0]) == {"GPU-c", "GPU-d"}
    assert isinstance(answers["n2"], Refusal)
    assert "1/2 NumaNotFit" in answers["n2"].text
    assert isinstance(free["n2"], Allocation)


def test_fc_030_a_percentage_is_resolved_per_card() -> None:
    devices = cards(*(f"GPU-{index}" for index in range(8)), memory_mib=81920)
    devices[7] = structs.replace(devices[7], memory_mib=79000)
    cluster = Cluster(registered(devices))

    _, allocation = cluster.schedule(pod(container(gpu=8, pct=100, cores=50)))

    sizes = sorted(grant.memory_mib for grant in allocation.containers[0])
    assert sizes == [79000] + [81920] * 7


def test_fc_031_other_families_are_not_ours() -> None:
    other = registered([card("GPU-a", memory_mib=15360)], name="g")
    npu = structs.replace(other, annotations={"hami.io/node-register-Ascend910B3": "[]"})
    npu_pod = pod(container(**{"huawei.com/Ascend910B3": 1}))

    assert FAMILY.inventory(npu) is None
    assert FAMILY.ask(npu_pod) is None
    assert isinstance(FAMILY.ask(pod(container(gpu=1, mem=1000, cores=10))), NvidiaAsk)


def test_fc_032_cards_that_disappear_in_use_free_nothing() -> None:
    cluster = Cluster(registered(cards(*(f"GPU-{i}" for i in range(6)), memory_mib=81920)))
    held = "".join(f"GPU-{index},NVIDIA,81920,100:" for index in range(8))
    cluster.run("pod0", "n1", f"{held};")

    text = cluster.texts(pod(container(gpu=6)))["n1"]

    assert text == "6/6 CardInsufficientMemory"
    assert set(cluster.use("n1").values()) == {(1, 81920, 100)}


def test_fc_033_an_init_container_without_cards_shifts_nothing() -> None:
    cluster = Cluster(registered([card(memory_mib=40000)]))
    apps = (container("a", gpu=1, pct=40), container("b", gpu=1, pct=40))

    cluster.schedule(pod(*apps, init=[container("prep")]))

    assert cluster.use("n1") == {"GPU-a": (2, 32000, 0)}


def test_fc_034_mig_cards_count_once_under_the_topology_policy() -> None:
    devices = [mig_card(f"GPU-{index}", index=index) for index in range(8)]
    cluster = Cluster(registered(devices))
    notes = {"nvidia.com/vgpu-mode": "mig", DEVICE_POLICY: "topology-aware"}

    _, allocation = cluster.schedule(pod(container(gpu=4, mem=5000), annotations=notes))

    assert len(set(ids(allocation)[0])) == 4


def test_fc_034_instances_of_one_card_serve_where_cards_are_few() -> None:
    cluster = Cluster(registered([mig_card()]))
    notes = {"nvidia.com/vgpu-mode": "mig", DEVICE_POLICY: "topology-aware"}

    _, allocation = cluster.schedule(pod(container(gpu=3, mem=5000), annotations=notes))

    assert ids(allocation) == [["GPU-m"] * 3]


def test_fc_036_an_unreadable_allocation_is_a_refusal_that_points_to_it() -> None:
    odd = pod(name="odd", annotations={VGPU_NODE: "n1", ALLOCATED: "GPU-a,NVIDIA,abc,0:;"})

    refusal = FAMILY.decode(odd)

    assert isinstance(refusal, Refusal)
    assert refusal.text == (
        "device allocation of pod team-a/odd unreadable: hami.io/vgpu-devices-allocated: "
        'invalid memory field: strconv.ParseInt: parsing "abc": invalid syntax'
    )


@pytest.mark.parametrize(
    ("limits", "answer"),
    [
        ({"gpu": 1, "mem": 300, "cores": 40}, "GPU-k1,NVIDIA,300,40:;"),
        ({"gpu": 1, "mem": 12000}, "2/2 CardInsufficientMemory"),
    ],
)
def test_fc_038_a_template_answers_fit_or_unfit_and_keeps_its_state(
    limits: dict[str, str | int], answer: str
) -> None:
    cluster = Cluster(registered(cards("GPU-k0", "GPU-k1", memory_mib=11441)))

    answers = [cluster.texts(pod(container(**limits))) for _ in range(3)]

    assert answers == [{"n1": answer}] * 3
    assert set(cluster.use("n1").values()) == {(0, 0, 0)}


def test_fc_042_pods_of_one_session_see_each_other() -> None:
    session = Cluster(registered([card()]))
    wanted = [pod(container(gpu=1, mem=10240), name=f"p{index}") for index in range(3)]

    session.schedule(wanted[0])
    session.schedule(wanted[1])

    assert session.texts(wanted[2]) == {"n1": "1/1 CardInsufficientMemory"}


def test_a_registration_with_a_null_is_malformed_not_a_crash() -> None:
    node = structs.replace(registered([]), annotations={REGISTER: json.dumps([None])})

    refusal = FAMILY.inventory(node)

    assert isinstance(refusal, Refusal)
    assert refusal.text == (
        "device registration malformed: hami.io/node-nvidia-register: [0] is null, not an object"
    )


def test_fc_016_every_card_counts_for_the_quota() -> None:
    cluster = QuotaCluster(
        [registered(cards("GPU-a", "GPU-b"))], {TEAM: {GPUMEM: 4096, GPUCORES: 50}}
    )

    node = cluster.place(pod(container(gpu=2, mem=2048, cores=20), name="p1"))
    denied = cluster.denied(pod(container(gpu=1, mem=1), name="p2"))

    assert node == "n1"
    assert cluster.used() == {GPUMEM: 4096, GPUCORES: 40}
    assert denied is not None
    assert "1 asked, 4096 of 4096 used" in denied.detail


def test_fc_017_whole_cards_and_parts_of_them_count_for_the_quota() -> None:
    n1 = registered([card(memory_mib=40960)])
    cluster = QuotaCluster([n1], {TEAM: {GPUMEM: 25600}})
    whole, seventy = pod(container(gpu=1)), pod(container(gpu=1, pct=70))
    small = pod(container(gpu=1, mem=1000), name="small")

    assert [cluster.place(each) for each in (whole, seventy)] == ["1/1 ResourceQuotaNotFit"] * 2
    assert cluster.used() == {}
    assert cluster.place(small) == "n1"
    assert cluster.used() == {GPUMEM: 1000}
    assert QuotaCluster([n1], {TEAM: {GPUMEM: 0}}).place(small) == "1/1 ResourceQuotaNotFit"
    assert QuotaCluster([n1], {"other": {GPUMEM: 0}}).place(small) == "n1"


def test_fc_033_an_init_container_without_cards_changes_nothing_about_the_quota() -> None:
    cluster = QuotaCluster([registered([card(memory_mib=40000)])], {TEAM: {GPUMEM: 24000}})
    both = (container("a", gpu=1, pct=40), container("b", gpu=1, pct=40))

    texts = [cluster.place(pod(*both, init=init)) for init in ([], [container("prep")])]

    assert texts == ["1/1 ResourceQuotaNotFit"] * 2
    assert cluster.used() == {}
