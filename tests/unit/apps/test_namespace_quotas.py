"""Quotas of namespaces in answers: what a plan adds no nodes for, and what would change that."""

import json
from typing import Any

import pytest

from springtide.apps.headroom import Request as RoomRequest
from springtide.apps.headroom import run as room_of
from springtide.apps.planner import PlanReport, Request, run
from springtide.apps.planner.report import QuotaReport
from springtide.apps.why import Request as WhyRequest
from springtide.apps.why import run as why
from springtide.engine.explain import ChangeKind
from springtide.wire.documents import Input, decode
from springtide.wire.source import Source
from tests.world import FirstRng, FixedClock

Json = dict[str, Any]
CARDS = [
    {
        "id": f"GPU-{index}",
        "index": index,
        "count": 10,
        "devmem": 24576,
        "devcore": 100,
        "type": "NVIDIA-A10",
        "mode": "hami-core",
        "health": True,
    }
    for index in range(2)
]
MEM, CORES = "nvidia.com/gpumem", "nvidia.com/gpucores"
GROUP: Json = {
    "apiVersion": "springtide.io/v1alpha1",
    "kind": "NodeGroups",
    "groups": [{"name": "g", "maxSize": 9, "nodeSelector": {"matchLabels": {"pool": "a"}}}],
}


def node(name: str = "n1", **more: str) -> Json:
    amounts = {"cpu": "8", "memory": "64Gi", "pods": "110", **more}
    notes = {"hami.io/node-nvidia-register": json.dumps(CARDS)}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "annotations": notes, "labels": {"pool": "a"}},
        "status": {"allocatable": amounts, "capacity": amounts},
    }


def quota(name: str = "gpus", namespace: str = "team", **limits: object) -> Json:
    names = {"mem": MEM, "cores": CORES}
    hard = {f"limits.{names.get(key, key)}": value for key, value in limits.items()}
    metadata = {"name": name, "namespace": namespace}
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": metadata,
        "spec": {"hard": hard},
    }


def pod(name: str, *, namespace: str = "team", cpu: int = 0, **limits: int) -> Json:
    named = {f"nvidia.com/{key.replace('_', '-')}": str(value) for key, value in limits.items()}
    resources = {"limits": named, "requests": {**named, **({"cpu": str(cpu)} if cpu else {})}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "uid": f"uid-{namespace}-{name}"},
        "spec": {"containers": [{"name": "main", "resources": resources}]},
        "status": {"phase": "Pending"},
    }


def manifest(name: str, *, gpumem: int = 0) -> Json:
    made = pod(name, gpu=1, gpumem=gpumem) if gpumem else pod(name, gpu=1)
    del made["metadata"]["uid"], made["status"]
    return made


def running(name: str, on: str, allocation: str) -> Json:
    made = pod(name, gpu=1)
    notes = {"hami.io/vgpu-node": on, "hami.io/vgpu-devices-allocated": allocation}
    made["metadata"]["annotations"] = notes
    made["spec"]["nodeName"] = on
    made["status"]["phase"] = "Running"
    return made


def read(*objects: Json) -> Input:
    own = [each for each in objects if each["kind"] == "NodeGroups"]
    others = [each for each in objects if each["kind"] != "NodeGroups"]
    listed = {"apiVersion": "v1", "kind": "List", "items": others}
    groups = [Source("groups.json", json.dumps(each).encode()) for each in own]
    return decode([Source("in.json", json.dumps(listed).encode()), *groups])


def planned(*objects: Json) -> PlanReport:
    return run(read(*objects), Request(), clock=FixedClock(), rng=FirstRng())


def test_no_node_is_added_for_a_pod_that_only_a_quota_keeps_away() -> None:
    report = planned(node(), GROUP, quota(mem=10000), pod("p", gpu=1, gpumem=12000))

    (group,), (stuck,) = report.groups, report.stuck
    assert group.size_after == 1
    assert stuck.remedy == (
        "The quota of namespace team is in the way, not a lack of nodes: such a pod takes 12000 "
        "nvidia.com/gpumem, and 0 of 10000 are used. Let limits.nvidia.com/gpumem be at least 12000, "
        "or let the pod ask for less."
    )
    assert report.summary.endswith("It waits for a larger quota of namespace team, not for a node.")
    assert "2/2 ResourceQuotaNotFit" in stuck.message


def test_pods_count_as_they_are_placed_on_old_nodes_and_on_new_ones() -> None:
    pods = [pod(f"p{index}", cpu=6, gpu=1, gpumem=4000) for index in range(5)]

    report = planned(node(), GROUP, quota(mem=13000), *pods)

    (group,), (stuck,) = report.groups, report.stuck
    assert (len(report.fitting), group.size_after - group.size_before) == (1, 2)
    assert stuck.pods == ("team/p3", "team/p4")
    assert stuck.quota == (
        QuotaReport(
            namespace="team", resource=MEM, limit=13000, used=12000, asked=4000, enough=16000
        ),
    )


def test_a_cluster_without_nodes_keeps_to_quotas_too() -> None:
    described = {
        "capacity": {"cpu": "8", "memory": "64Gi", "pods": "110"},
        "annotations": node()["metadata"]["annotations"],
    }
    made = {"name": "g", "maxSize": 9, "template": described}
    empty = {**GROUP, "groups": [made]}
    pods = [pod(f"p{index}", cpu=6, gpu=1) for index in range(4)]

    report = planned(empty, quota(mem=50000), *pods)

    assert report.groups[0].size_after == 2
    assert [each.pods for each in report.stuck] == [("team/p2", "team/p3")]
    assert [each.enough for each in report.stuck[0].quota] == [3 * 24576]


def test_namespaces_count_for_themselves() -> None:
    pods = [
        pod(name, namespace=namespace, gpu=1, gpumem=4000)
        for namespace in ("team", "other")
        for name in ("a", "b")
    ]

    report = planned(node(), GROUP, quota(mem=4000), *pods)

    assert {each.pod for each in report.fitting} == {"team/a", "other/a", "other/b"}
    assert [each.pods for each in report.stuck] == [("team/b",)]


def test_what_lacks_more_than_a_quota_is_told_as_ever() -> None:
    report = planned(node(), GROUP, quota(mem=10000), pod("p", gpu=1, gpumem=30000))

    (stuck,) = report.stuck
    assert (stuck.remedy, stuck.quota) == ("", ())
    assert stuck.closest is not None
    assert stuck.closest.reason == "2/2 ResourceQuotaNotFit"
    assert stuck.closest.detail.endswith("namespace team has 10000 of 10000 nvidia.com/gpumem left")


def test_running_pods_count_wherever_they_are() -> None:
    there = running("r1", "n1", "GPU-0,NVIDIA,3000,10:;")
    gone = running("r2", "gone", "GPU-9,NVIDIA,2000,10:;")

    report = planned(node(), quota(mem=6000), there, gone, pod("p", gpu=1, gpumem=2000))

    (stuck,) = report.stuck
    assert [each.used for each in stuck.quota] == [5000]


def test_a_quota_that_is_overdrawn_is_noted() -> None:
    there = running("r1", "n1", "GPU-0,NVIDIA,3000,10:;")

    report = planned(node(), quota(mem=2000, cores=10), there)

    (note,) = report.input.notes
    assert note == (
        "Namespace team holds 3000 nvidia.com/gpumem, more than its quota of 2000, and gets no "
        "further devices of that kind until it holds less."
    )


def test_manifests_beyond_a_quota_would_be_denied() -> None:
    there = running("r1", "n1", "GPU-0,NVIDIA,3000,10:;")

    report = planned(node(), quota(mem=6000), there, manifest("big", gpumem=4000), manifest("part"))

    (denied,) = report.apart
    assert denied.pod == "team/big"
    assert denied.reason == (
        "would be denied at admission: exceeding resource quota: nvidia.com/gpumem of namespace "
        "team: 4000 asked, 3000 of 6000 used"
    )
    assert [each.pods for each in report.stuck] == [("team/part",)]


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"mem": "1.5"}, "1500m is no whole number, so it limits nothing."),
        ({"mem": "16Gi"}, "16Gi is more than any namespace can hold, so it limits nothing."),
    ],
)
def test_a_limit_that_makes_no_sense_is_named(limits: Json, said: str) -> None:
    report = planned(node(), quota(**limits), pod("p", gpu=1, gpumem=2000))

    (problem,) = report.problems
    assert (problem.source, problem.object) == ("in.json", "ResourceQuota/team/gpus")
    assert problem.field == 'spec.hard["limits.nvidia.com/gpumem"]'
    assert problem.message.startswith(said)
    assert report.is_satisfied


def test_the_last_of_several_quotas_counts_and_is_named() -> None:
    report = planned(
        node(),
        quota("first", mem=1000, cores=50),
        quota("last", mem=4000, cores=50),
        pod("p", gpu=1, gpumem=2000),
    )

    (problem,) = report.problems
    assert report.is_satisfied
    assert problem.object == "ResourceQuota/team/last"
    assert problem.message.startswith("quota first of this namespace limits it differently")


def test_other_limits_are_nobodys_here() -> None:
    other = quota()
    other["spec"]["hard"] = {f"limits.{each}": 0 for each in ("nvidia.com/gpu", "x.com/y", "cpu")}

    report = planned(node(), other, pod("p", gpu=1, gpumem=2000))

    assert (report.is_satisfied, report.problems) == (True, ())


def test_a_gang_that_only_a_quota_keeps_short_says_so() -> None:
    pods = [pod(f"p{index}", gpu=1, gpumem=4000) for index in range(3)]
    for each in pods:
        each["metadata"]["annotations"] = {"springtide.io/gang": "g", "springtide.io/gang-min": "3"}

    report = planned(node(), GROUP, quota(mem=10000), *pods)

    (gang,) = report.gangs
    assert (gang.is_met, gang.running, report.groups[0].size_after) == (False, 2, 1)
    assert "8000 of 10000 are used" in gang.remedy


def test_why_names_the_smallest_quota_and_the_most_that_may_be_asked() -> None:
    there = running("r1", "n1", "GPU-0,NVIDIA,3000,10:;")
    found = read(node(), quota(mem=6000), there, pod("p", gpu=2, gpumem=2000))

    (answer,) = why(found, WhyRequest(), clock=FixedClock()).pods

    changes = {(each.kind, each.subject): (each.before, each.after) for each in answer.changes}
    assert changes[ChangeKind.RAISE_QUOTA, f"limits.{MEM}"] == ("6000", "7000")
    assert changes[ChangeKind.ASK_LESS, MEM] == ("2000", "1500")
    assert changes[ChangeKind.ASK_LESS, "nvidia.com/gpu"] == ("2", "1")
    assert answer.verdicts[0].sentence == (
        "1 of 2 devices would do, 2 asked; 1 of 2 devices would take more than the quota leaves; "
        "namespace team has 3000 of 6000 nvidia.com/gpumem left"
    )


def test_why_looks_for_a_quota_on_new_nodes_too() -> None:
    found = read(
        node(),
        GROUP,
        quota(mem=6000, cores=10),
        pod("p", cpu=8, gpu=1, gpumem=8000, gpucores=20),
        running_cpu(),
    )

    (answer,) = why(found, WhyRequest(), clock=FixedClock()).pods

    (raised,) = [each for each in answer.changes if each.kind == ChangeKind.RAISE_QUOTA]
    assert (raised.before, raised.after) == ("6000 and 10", "8000 and 20")
    assert raised.node == "a new node of g"


def running_cpu() -> Json:
    made = pod("busy", cpu=4)
    made["spec"]["nodeName"] = "n1"
    made["status"]["phase"] = "Running"
    return made


def test_room_ends_where_the_quota_does() -> None:
    found = read(
        node(), quota(mem=6000), quota("d", "default", mem=0), pod("p", gpu=1, gpumem=2000)
    )

    report = room_of(found, RoomRequest(), clock=FixedClock())

    of_pods = next(each for each in report.asks if each.source == "Pods")
    ladder = [each.more for each in report.asks if each.source == "Ladder"]
    assert of_pods.more == 3
    assert [limit.reason for limit in of_pods.limits] == ["ResourceQuotaNotFit"]
    assert ladder[0] == 16


def test_room_is_counted_at_once_where_the_quota_is_ample() -> None:
    free, ample = (
        room_of(
            read(node(), quota(mem=mib), pod("p", gpu=1, gpumem=2000)),
            RoomRequest(),
            clock=FixedClock(),
        )
        for mib in (2**31 - 1, 50000)
    )

    assert [each.more for each in free.asks] == [each.more for each in ample.asks]
