"""Filtering live: a node is chosen, its devices are held, and every way back frees just these."""

import numpy as np
import pytest
from msgspec.structs import replace

from springtide.apps.planner.families import Policies, families, policy_table
from springtide.base.quantity import parse
from springtide.engine.live import Live, LiveSettings, PatchPod
from springtide.model.pod import Container, PodSpec
from springtide.model.quotas import NamespaceQuota
from tests.builders import card, cards, pod, resources
from tests.living import NOW_S, Cluster, broken, gpu_node, placed_pod, stored

GPUMEM = "nvidia.com/gpumem"


def quota(gpumem: int, *, name: str = "quota", namespace: str = "default") -> NamespaceQuota:
    return NamespaceQuota(namespace=namespace, name=name, limits=((GPUMEM, parse(str(gpumem))),))


def test_the_pod_of_the_specification_gets_exactly_these_annotations() -> None:
    cluster = Cluster()
    cluster.add(gpu_node("gpu-1", card("GPU-a"), card("GPU-b")))
    asked = resources({"nvidia.com/gpu": 2, GPUMEM: 3000, "nvidia.com/gpucores": 30})
    containers = (Container(name="sidecar"), Container(name="main", limits=asked))
    train = replace(pod("train"), spec=PodSpec(containers=containers))

    answer = cluster.filter(train)

    text = ";GPU-b,NVIDIA,3000,30:GPU-a,NVIDIA,3000,30:;"
    assert answer.node == "gpu-1"
    assert answer.patch == PatchPod(
        uid=train.uid,
        namespace="default",
        name="train",
        annotations={
            "hami.io/vgpu-node": "gpu-1",
            "hami.io/vgpu-time": str(int(NOW_S)),
            "hami.io/vgpu-devices-to-allocate": text,
            "hami.io/vgpu-devices-allocated": text,
        },
        labels={"hami.io/vgpu-node": "gpu-1"},
    )
    assert cluster.events() == [
        "FilteringSucceed: find fit node(gpu-1), 0 nodes not fit, 1 nodes fit(gpu-1:0.00)"
    ]


def test_a_pod_without_devices_passes_and_holds_nothing() -> None:
    cluster = Cluster()
    cluster.add(gpu_node("n1", card()))

    answer = cluster.filter(pod("plain", cpu=1))

    assert answer.passes
    assert not cluster.live.ledger.holdings
    assert cluster.events() == []


def test_of_equal_nodes_the_smallest_name_is_taken() -> None:
    cluster = Cluster()
    cluster.add(*(gpu_node(name, card(f"GPU-{name}")) for name in ("n3", "n1", "n2")))

    first = cluster.filter(stored(pod("a", gpu=1, gpumem=100)), ["n3", "n2"])
    others = [cluster.filter(stored(pod(name, gpu=1, gpumem=20000))).node for name in "bcd"]

    assert first.node == "n2"
    assert others == ["n2", "n1", "n3"]


def test_only_the_nodes_of_the_call_are_looked_at_and_each_says_why_not() -> None:
    cluster = Cluster()
    cluster.add(gpu_node("n1", card()), gpu_node("n2", *cards(2)), gpu_node("n3", card()))
    cluster.remove_node("n3")

    answer = cluster.filter(stored(pod("big", gpu=1, gpumem=99999)), ["n2", "n1", "n3", "n9"])

    assert answer.node is None
    assert answer.refusals == {
        "n2": "2/2 CardInsufficientMemory",
        "n1": "1/1 CardInsufficientMemory",
        "n3": "node unregistered",
        "n9": "node unregistered",
    }
    assert cluster.events() == [
        "FilteringFailed: 2 nodes CardInsufficientMemory(n1,n2)",
        "FilteringFailed: no available node, 4 nodes do not meet",
    ]


def test_an_ask_that_makes_no_sense_is_refused_everywhere_with_the_containers_name() -> None:
    cluster = Cluster()
    cluster.add(gpu_node("n1", card()))

    answer = cluster.filter(pod("odd", others={"nvidia.com/gpu": 1, GPUMEM: "1500m"}))

    assert list(answer.refusals) == ["n1"]
    assert "container main asks nvidia.com/gpumem" in answer.refusals["n1"]
    assert not cluster.live.ledger.holdings


def test_weights_that_cannot_be_read_are_an_error_of_the_call() -> None:
    cluster = Cluster()
    cluster.add(gpu_node("n1", card()))
    notes = {"hami.io/device-scoring-weights": "slot=x"}

    answer = cluster.filter(stored(pod("odd", gpu=1, annotations=notes)))

    assert answer.error.startswith("calcScore failed invalid hami.io/device-scoring-weights")
    assert answer.error.endswith("for pod odd")


def test_long_lists_of_nodes_are_cut_short_in_events() -> None:
    cluster = Cluster()
    cluster.add(*(gpu_node(f"n{index:02}", card(f"GPU-{index}")) for index in range(40)))

    cluster.filter(stored(pod("small", gpu=1, gpumem=100)))
    cluster.filter(stored(pod("big", gpu=1, gpumem=99999)))

    assert all(len(text) < 1000 for text in cluster.events())
    assert cluster.events()[0].endswith(" 40 nodes fit(...,n00:0.00)")
    assert cluster.events()[1].startswith("FilteringFailed: 40 nodes CardInsufficientMemory(n00,")


def test_t74_a_pod_that_is_filtered_again_has_its_first_reservation_replaced() -> None:
    cluster = Cluster()
    cluster.add(gpu_node("n1", card("GPU-a")), gpu_node("n2", card("GPU-b")))
    twice = stored(pod("twice", gpu=1, gpumem=20000))

    first = cluster.filter(twice, ["n1"])
    second = cluster.filter(twice, ["n1", "n2"])

    assert (first.node, second.node) == ("n1", "n1")
    assert cluster.used("n1") == {"GPU-a": (1, 20000, 0)}
    assert cluster.used("n2") == {}


def test_a_filter_that_finds_nothing_takes_the_earlier_reservation_off_the_pod() -> None:
    cluster = Cluster()
    cluster.add(gpu_node("n1", card("GPU-a")))
    twice = stored(pod("twice", gpu=1, gpumem=20000))
    cluster.filter(twice)

    cluster.filter(twice, ["other"])

    assert cluster.used("n1") == {}
    assert cluster.pods[twice.uid].annotations == {}
    assert not cluster.rebuilt().ledger.holdings


def test_fc_018_what_a_vanished_pod_held_is_free_after_the_next_list() -> None:
    cluster = Cluster()
    cluster.add(gpu_node("n1", *cards(8, memory=81559)))
    old, new = (
        stored(pod(name, others={"nvidia.com/gpu": 8, "nvidia.com/gpumem-percentage": 100}))
        for name in ("old", "new")
    )
    cluster.filter(old)
    cluster.bind(old.uid, "n1")

    cluster.delete(old.uid)
    assert cluster.used("n1") == {}
    answer = cluster.filter(new)

    assert answer.node == "n1"
    assert len(cluster.used("n1")) == 8


def test_fc_019_a_reservation_that_cannot_be_written_leaves_nothing_reserved() -> None:
    cluster = Cluster()
    cluster.live.quota_seen(quota(10000))
    cluster.add(gpu_node("n1", card("GPU-a")))
    cluster.faults[PatchPod] = [broken()]

    first = cluster.filter(stored(pod("p1", gpu=1, gpumem=8000)))

    assert first.error
    assert cluster.used("n1") == {}
    assert cluster.quota("default") == {}
    second = cluster.filter(stored(pod("p2", gpu=1, gpumem=8000)))
    assert second.node == "n1"
    cluster.live.ledger.check()


def test_a_patch_that_was_applied_although_it_failed_is_taken_off_again() -> None:
    cluster = Cluster()
    cluster.add(gpu_node("n1", card("GPU-a")))
    wanted = cluster.create(stored(pod("p1", gpu=1, gpumem=8000)))
    answer = cluster.live.filter(wanted, ["n1"], now_s=NOW_S)
    assert answer.patch is not None
    cluster.tells = False
    cluster.outcome(answer.patch)
    cluster.live.take_back(wanted.uid)

    cluster.tells = True
    cluster.tell_pod(wanted.uid)

    assert cluster.used("n1") == {}
    assert cluster.pods[wanted.uid].annotations == {}


def test_fc_020_a_failed_bind_holds_nothing_and_a_bind_in_progress_holds_its_cards() -> None:
    cluster = Cluster()
    cluster.add(gpu_node("n1", card("GPU-a"), card("GPU-b")))
    asking = stored(pod("x", gpu=1, gpumem=24000))
    stale = replace(asking, name="stale", uid="stale")
    inflight = replace(asking, name="inflight", uid="inflight")
    failed = {"hami.io/bind-phase": "failed"}
    binding = {"hami.io/bind-phase": "allocating", "hami.io/bind-time": "1767225899"}
    cluster.create(placed_pod(stale, on="n1", text="GPU-a,NVIDIA,24000,0:;", **failed))
    cluster.create(placed_pod(inflight, on="n1", text="GPU-b,NVIDIA,24000,0:;", **binding))

    first = cluster.filter(stored(pod("p1", gpu=1, gpumem=20000)))
    second = cluster.filter(stored(pod("p2", gpu=1, gpumem=20000)))

    assert first.node == "n1"
    assert cluster.used("n1") == {"GPU-a": (1, 20000, 0), "GPU-b": (1, 24000, 0)}
    assert second.refusals == {"n1": "2/2 CardInsufficientMemory"}


def test_fc_032_cards_that_vanish_while_they_are_used_are_not_free() -> None:
    cluster = Cluster()
    eight = [card(f"GPU-{index}", memory=81920) for index in range(8)]
    cluster.add(gpu_node("n1", *eight))
    text = "".join(f"GPU-{index},NVIDIA,81920,100:" for index in range(8)) + ";"
    running = placed_pod(stored(pod("pod0", gpu=8, on="n1")), on="n1", text=text)
    cluster.create(replace(running, phase="Running"))

    cluster.add(gpu_node("n1", *eight[:6]))
    answer = cluster.filter(stored(pod("pod1", gpu=6)))

    assert answer.node is None
    assert all("/6 " in reason for reason in answer.refusals["n1"].split(", "))
    assert len(cluster.used("n1")) == 6
    cluster.live.ledger.check()
    cluster.add(gpu_node("n1", *eight))
    assert len(cluster.used("n1")) == 8


def test_fc_036_an_allocation_that_cannot_be_read_closes_its_node_until_the_pod_ends() -> None:
    cluster = Cluster()
    cluster.add(gpu_node("n1", card("GPU-a")), gpu_node("n2", card("GPU-b")))
    odd = placed_pod(stored(pod("odd", gpu=1, on="n1")), on="n1", text="GPU-a,NVIDIA,abc,0:;")
    cluster.create(replace(odd, phase="Running"))

    refused = cluster.filter(stored(pod("p", gpu=1, gpumem=1000)), ["n1"])
    other = cluster.filter(stored(pod("p", gpu=1, gpumem=1000)))
    cluster.change(odd.uid, phase="Succeeded")
    after = cluster.filter(stored(pod("q", gpu=1, gpumem=1000)), ["n1"])

    assert "device allocation of pod default/odd unreadable" in refused.refusals["n1"]
    assert other.node == "n2"
    assert after.node == "n1"


def test_a_reservation_that_nobody_binds_is_given_up_and_taken_off_the_pod() -> None:
    cluster = Cluster(LiveSettings(reservation_timeout_s=60))
    cluster.add(gpu_node("n1", card("GPU-a")))
    forgotten = stored(pod("forgotten", gpu=1))
    cluster.filter(forgotten)

    cluster.wait(59)
    kept = cluster.used("n1")
    cluster.wait(2)

    assert kept == {"GPU-a": (1, 24576, 100)}
    assert cluster.used("n1") == {}
    assert "hami.io/vgpu-node" not in cluster.pods[forgotten.uid].annotations
    assert cluster.live.tracking.expired == 1


@pytest.mark.parametrize("gpu", [1, 2], ids=["placed", "refused"])
def test_nothing_stays_of_a_pod_that_was_gone_before_it_was_asked_for(gpu: int) -> None:
    cluster = Cluster(LiveSettings(reservation_timeout_s=60))
    cluster.add(gpu_node("n1", card("GPU-a")))
    gone = stored(pod("gone", gpu=gpu))
    cluster.live.filter(gone, ["n1"], now_s=cluster.now_s)

    cluster.wait(59)
    known = gone.uid in cluster.live.tracking.waiting
    cluster.wait(2)

    assert known
    assert gone.uid not in cluster.live.tracking.waiting
    assert cluster.used("n1") == {}


def test_a_quota_has_room_again_once_a_pod_ends_whose_node_has_lost_its_devices() -> None:
    cluster = Cluster()
    cluster.add(gpu_node("n1", card("GPU-a")), gpu_node("n2", card("GPU-b")))
    first, second = (stored(pod(name, gpu=1, gpumem=1000)) for name in ("first", "second"))
    cluster.filter(first, ["n1"])
    cluster.live.quota_seen(quota(1500))
    cluster.add(gpu_node("n1"))
    refused = cluster.filter(second, ["n2"])

    cluster.delete(first.uid)

    assert "ResourceQuotaNotFit" in refused.refusals["n2"]
    assert cluster.filter(second, ["n2"]).node == "n2"


def test_another_process_takes_over_what_the_first_one_reserved() -> None:
    cluster = Cluster(LiveSettings(reservation_timeout_s=60))
    cluster.add(gpu_node("n1", card("GPU-a")))
    waiting = stored(pod("waiting", gpu=1))
    cluster.filter(waiting)
    cluster.now_s += 30

    cluster.live = cluster.rebuilt()

    assert cluster.used("n1") == {"GPU-a": (1, 24576, 100)}
    cluster.wait(31)
    assert cluster.used("n1") == {}


@pytest.mark.parametrize("field", ["phase", "is_terminating"])
def test_t73_a_terminating_pod_holds_its_devices_until_it_has_ended(field: str) -> None:
    cluster = Cluster()
    cluster.live.quota_seen(quota(50000))
    cluster.add(gpu_node("n1", card("GPU-a")))
    running = stored(pod("running", gpu=1, gpumem=1000))
    cluster.filter(running)
    cluster.bind(running.uid, "n1")

    cluster.change(running.uid, is_terminating=True)
    if field == "phase":
        cluster.change(running.uid, phase="Succeeded")

    held = {} if field == "phase" else {"GPU-a": (1, 1000, 0)}
    assert cluster.used("n1") == held
    assert cluster.quota("default") == ({GPUMEM: 1000} if held else {})
    assert cluster.rebuilt().ledger.holdings.keys() == cluster.live.ledger.holdings.keys()


def test_t75_a_device_that_the_node_does_not_have_is_held_by_nobody() -> None:
    cluster = Cluster()
    cluster.add(gpu_node("n1", card("GPU-a")))
    lost = placed_pod(stored(pod("lost", gpu=1, on="n1")), on="n1", text="GPU-z,NVIDIA,500,0:;")

    cluster.create(lost)

    assert cluster.used("n1") == {}
    cluster.live.ledger.check()


def test_a_pod_that_runs_elsewhere_than_its_devices_counts_for_its_quota_alone() -> None:
    cluster = Cluster()
    cluster.add(gpu_node("n1", card("GPU-a")), gpu_node("n2", card("GPU-b")))
    astray = placed_pod(stored(pod("astray", gpu=1, on="n2")), on="n1", text="GPU-a,NVIDIA,500,0:;")

    cluster.create(astray)

    assert (cluster.used("n1"), cluster.used("n2")) == ({}, {})
    assert cluster.quota("default") == {GPUMEM: 500}


def test_t77_a_quota_that_is_updated_counts_at_once() -> None:
    cluster = Cluster()
    cluster.live.quota_seen(quota(100))
    cluster.add(gpu_node("n1", card("GPU-a")))
    wanted = stored(pod("wanted", gpu=1, gpumem=150))

    before = cluster.filter(wanted)
    cluster.live.quota_seen(quota(200))
    after = cluster.filter(wanted)

    assert before.refusals == {"n1": "1/1 ResourceQuotaNotFit"}
    assert after.node == "n1"


def test_t78_a_quota_of_nothing_blocks_everything_and_no_quota_blocks_nothing() -> None:
    cluster = Cluster()
    cluster.live.quota_seen(quota(0))
    cluster.add(gpu_node("n1", card("GPU-a")))
    wanted = stored(pod("wanted", gpu=1, gpumem=1))

    blocked = cluster.filter(wanted)
    cluster.live.quota_gone("default", "quota")
    free = cluster.filter(wanted)

    assert blocked.refusals == {"n1": "1/1 ResourceQuotaNotFit"}
    assert free.node == "n1"


def test_what_ran_before_a_quota_came_counts_against_it() -> None:
    cluster = Cluster()
    cluster.add(gpu_node("n1", card("GPU-a")))
    cluster.filter(stored(pod("first", gpu=1, gpumem=900)))

    cluster.live.quota_seen(quota(1000))
    answer = cluster.filter(stored(pod("second", gpu=1, gpumem=200)))

    assert answer.refusals == {"n1": "1/1 ResourceQuotaNotFit"}
    assert cluster.quota("default") == {GPUMEM: 900}


def test_pods_of_two_families_are_held_and_written_side_by_side() -> None:
    cluster = Cluster()
    chips = (
        '[{"id":"NPU-0","count":4,"devmem":32768,"devcore":30,"type":"Ascend910A","health":true}]'
    )
    notes = {"hami.io/node-register-Ascend910A": chips}
    cluster.add(gpu_node("n1", card("GPU-a"), notes=notes))
    mixed = stored(pod("mixed", gpu=1, gpumem=100, others={"huawei.com/Ascend910A": 1}))

    answer = cluster.filter(mixed)

    assert answer.patch is not None
    assert answer.patch.annotations["predicate-time"] == str(int(NOW_S))
    assert answer.patch.annotations["hami.io/Ascend910A-devices-allocated"] == (
        "NPU-0,Ascend910A,32768,0:;"
    )
    assert cluster.used("n1", "Ascend") == {"NPU-0": (1, 32768, 0)}
    cluster.annotate("n1", {"hami.io/node-handshake-Ascend910A": "Reported_2026"})
    assert cluster.rebuilt().ledger.holdings == cluster.live.ledger.holdings


def test_a_pod_that_is_bound_already_is_not_given_other_devices() -> None:
    cluster = Cluster()
    cluster.add(gpu_node("n1", card("GPU-a")), gpu_node("n2", card("GPU-b")))
    wanted = stored(pod("p", gpu=1, gpumem=1000))
    cluster.filter(wanted)
    cluster.bind(wanted.uid, "n1")

    answer = cluster.live.filter(wanted, ["n1", "n2"], now_s=NOW_S)

    assert answer.error == "pod default/p is bound to node n1 already"
    assert cluster.used("n1") == {"GPU-a": (1, 1000, 0)}


def test_what_a_failed_bind_left_on_the_pod_is_taken_off_with_the_next_reservation() -> None:
    cluster = Cluster()
    cluster.add(gpu_node("n1", card("GPU-a")))
    left = {"hami.io/bind-phase": "failed", "hami.io/vgpu-mig-allocations": "[]"}
    again = placed_pod(stored(pod("p", gpu=1, gpumem=100)), on="n9", text="GPU-x,NVIDIA,1,0:;")

    cluster.filter(replace(again, annotations={**again.annotations, **left}))

    notes = cluster.pods[again.uid].annotations
    assert notes["hami.io/vgpu-node"] == "n1"
    assert not notes.keys() & left.keys()
    assert cluster.rebuilt().ledger.holdings == cluster.live.ledger.holdings


def test_news_of_a_pod_from_before_it_was_bound_changes_nothing() -> None:
    cluster = Cluster(LiveSettings(reservation_timeout_s=60))
    cluster.add(gpu_node("n1", card("GPU-a")))
    wanted = stored(pod("p", gpu=1, gpumem=100))
    cluster.filter(wanted)
    before = cluster.pods[wanted.uid]
    cluster.bind(wanted.uid, "n1")

    for old in (wanted, before):
        cluster.perform(cluster.live.pod_seen(old, now_s=NOW_S + 300))
        cluster.wait(100)

    assert cluster.used("n1") == {"GPU-a": (1, 100, 0)}


def test_changes_that_everybody_has_read_long_ago_are_forgotten() -> None:
    cluster = Cluster()
    cluster.add(gpu_node("n1", card("GPU-a")), gpu_node("n2", card("GPU-b")))
    cluster.filter(stored(pod("p", gpu=1, gpumem=24000)))
    cluster.live.ledger.changes.extend(np.zeros(1_000_001, np.int32))

    cluster.wait(1)
    answer = cluster.filter(stored(pod("q", gpu=1, gpumem=24000)))

    assert cluster.live.ledger.changes.start > 0
    assert answer.node == "n2"


def test_a_policy_beside_those_of_the_families_chooses_the_node() -> None:
    policies = Policies(node="fragmentation", device="fragmentation")
    kinds = families(None, policies)
    live = Live(kinds, LiveSettings(), policies=policy_table(kinds, policies))
    for name, count in (("n1", 1), ("n2", 2)):
        node = gpu_node(name, *(card(f"GPU-{name}-{index}") for index in range(count)))
        live.node_seen(node, now_s=NOW_S)

    answers = [
        live.filter(stored(pod(f"p{index}", gpu=gpu, gpumem=24576)), ["n1", "n2"], now_s=NOW_S)
        for index, gpu in enumerate((2, 1))
    ]

    assert [answer.node for answer in answers] == ["n2", "n1"]
