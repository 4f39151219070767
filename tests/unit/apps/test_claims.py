"""Claims in a plan: judged where the input has them, named as not looked at where it has none."""

import json
from typing import Any

import pytest

from springtide.apps.planner import PlanReport, Request, run
from springtide.wire.documents import decode
from springtide.wire.source import Source
from tests.world import FirstRng, FixedClock

GROUPS = {
    "apiVersion": "springtide.io/v1alpha1",
    "kind": "NodeGroups",
    "groups": [{"name": "a", "maxSize": 5, "nodeSelector": {"matchLabels": {"zone": "a"}}}],
}
CLASS = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "metadata": {"name": "fast"},
    "provisioner": "csi.example.com",
    "volumeBindingMode": "WaitForFirstConsumer",
}


def node(name: str, zone: str, pods: str = "10") -> dict[str, Any]:
    status = {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": pods}}
    metadata = {"name": name, "labels": {"zone": zone, "kubernetes.io/hostname": name}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": status}


def pod(name: str, claim: str, on: str = "") -> dict[str, Any]:
    metadata = {"name": name, "namespace": "default", "uid": name}
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": claim}}
    spec = {"nodeName": on, "volumes": [volume], "containers": [{"name": "main"}]}
    status = {"phase": "Running" if on else "Pending"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status}


def claim(name: str, volume: str = "", mode: str = "ReadWriteOnce") -> dict[str, Any]:
    notes = {"pv.kubernetes.io/bind-completed": "yes"} if volume else {}
    spec = {
        "accessModes": [mode],
        "storageClassName": "fast",
        "volumeName": volume,
        "resources": {"requests": {"storage": "1Gi"}},
    }
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": "default", "annotations": notes},
        "spec": spec,
    }


def volume(name: str, zone: str) -> dict[str, Any]:
    expression = {"key": "zone", "operator": "In", "values": [zone]}
    required = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    spec = {"storageClassName": "fast", "nodeAffinity": {"required": required}}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": spec,
    }


def planned(*objects: dict[str, Any]) -> PlanReport:
    listed = {"kind": "List", "apiVersion": "v1", "items": list(objects)}
    texts = [json.dumps(each).encode() for each in (listed, GROUPS)]
    found = decode([Source(f"in-{index}.json", text) for index, text in enumerate(texts)])
    return run(found, Request(), clock=FixedClock(), rng=FirstRng())


def test_without_any_claim_in_the_input_claims_are_not_looked_at() -> None:
    report = planned(node("n", "a"), pod("p", "data"))

    assert [(each.pod, each.node) for each in report.fitting] == [("default/p", "n")]
    (told,) = report.not_evaluated
    assert (told.field, told.pods) == ("volumes.persistentVolumeClaim", 1)


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        ([claim("data", "pv"), CLASS], "no PersistentVolume object"),
        ([claim("data", "pv"), volume("pv", "a")], "no StorageClass object"),
        ([claim("data", "pv")], "no PersistentVolume and no StorageClass object"),
    ],
)
def test_claims_without_what_they_refer_to_are_not_looked_at(
    given: list[dict[str, Any]], missing: str
) -> None:
    report = planned(node("n", "a"), pod("p", "data"), *given)

    assert len(report.fitting) == 1
    assert [each.field for each in report.not_evaluated] == ["volumes.persistentVolumeClaim"]
    (problem,) = report.problems
    assert missing in problem.message


def test_a_bound_volume_keeps_the_pod_in_its_zone() -> None:
    report = planned(
        node("n", "a"), pod("p", "data"), claim("data", "pv"), volume("pv", "b"), CLASS
    )

    (stuck,) = report.stuck
    reason = "node(s) didn't match PersistentVolume's node affinity"
    assert stuck.message == (
        f"0/1 nodes are available: 1 {reason}. "
        "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."
    )
    assert [each.reason for each in stuck.groups] == [reason]
    assert report.not_evaluated == ()


def test_a_claim_that_waits_lets_a_new_node_help() -> None:
    full = [node("n", "a", pods="1"), pod("old", "old", on="n"), claim("old", "pv")]

    report = planned(*full, volume("pv", "a"), pod("p", "data"), claim("data"), CLASS)

    assert report.is_satisfied
    assert [len(each.nodes) for each in report.groups] == [1]


def test_of_two_pods_one_gets_a_claim_that_only_one_may_use() -> None:
    objects = [pod("first", "data"), pod("second", "data"), CLASS]

    report = planned(node("n", "a"), *objects, claim("data", mode="ReadWriteOncePod"))

    assert [each.pod for each in report.fitting] == ["default/first"]
    assert [each.pods for each in report.stuck] == [("default/second",)]
    assert "already in-use by another pod" in report.stuck[0].message


def test_new_nodes_do_not_get_a_claim_that_only_one_pod_may_use_twice() -> None:
    full = [node("n", "a", pods="1"), pod("old", "old", on="n"), claim("old")]
    objects = [pod("first", "data"), pod("second", "data"), CLASS]

    report = planned(*full, *objects, claim("data", mode="ReadWriteOncePod"))

    assert [each.pods for each in report.stuck] == [("default/second",)]
    assert [len(each.nodes) for each in report.groups] == [1]


def test_pods_that_write_to_one_disk_get_a_new_node_each() -> None:
    disk = {"name": "data", "iscsi": {"iqn": "iqn.2001-04.com.example:a"}}
    pending = [pod(name, "unused") for name in ("first", "second")]
    for each in pending:
        each["spec"]["volumes"] = [disk]
        each["spec"]["containers"] = [{"name": "main", "resources": {"requests": {"cpu": "1"}}}]
    full = pod("old", "unused", on="n")
    full["spec"]["containers"] = [{"name": "main", "resources": {"requests": {"cpu": "4"}}}]

    report = planned(node("n", "a"), full, *pending)

    assert report.is_satisfied
    assert [len(each.nodes) for each in report.groups] == [2]
