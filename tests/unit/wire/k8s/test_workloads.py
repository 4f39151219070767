"""Workloads stand for their pods while the input has none of them."""

import json
from typing import Any

import pytest

from springtide.base import quantity
from springtide.base.selectors import compile_selector
from springtide.base.taints import Toleration
from springtide.model.pod import HostPort, Owner
from springtide.model.volumes import DiskVolume
from springtide.wire.documents import Input, decode
from springtide.wire.source import Source

GPU = {"limits": {"nvidia.com/gpu": "1"}}
ONE_GPU = (("nvidia.com/gpu", quantity.parse("1")),)


def read(*objects: dict[str, Any]) -> Input:
    listed = {"kind": "List", "apiVersion": "v1", "items": list(objects)}
    return decode([Source("in.json", json.dumps(listed).encode())])


def workload(kind: str, name: str = "w", **spec: Any) -> dict[str, Any]:
    template = {
        "metadata": {"labels": {"app": name}},
        "spec": {"containers": [{"name": "main", "resources": GPU}]},
    }
    version = "batch/v1" if kind == "Job" else "apps/v1"
    return {
        "kind": kind,
        "apiVersion": version,
        "metadata": {"name": name, "namespace": "t"},
        "spec": {"template": template, **spec},
    }


def with_uid(read: dict[str, Any], uid: str) -> dict[str, Any]:
    return {**read, "metadata": {**read["metadata"], "uid": uid}}


def owned(read: dict[str, Any], kind: str, name: str, uid: str = "") -> dict[str, Any]:
    reference = {"kind": kind, "name": name, "uid": uid, "controller": True}
    return {**read, "metadata": {**read["metadata"], "ownerReferences": [reference]}}


def stored_pod(name: str = "p", **metadata: Any) -> dict[str, Any]:
    return {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {"name": name, "namespace": "t", "uid": f"uid-{name}", **metadata},
    }


def names(found: Input) -> list[str]:
    return [pod.name for pod in found.manifests]


@pytest.mark.parametrize("kind", ["Deployment", "ReplicaSet", "StatefulSet"])
def test_a_workload_stands_for_its_replicas(kind: str) -> None:
    found = read(workload(kind, replicas=3))

    assert names(found) == ["w-0", "w-1", "w-2"]
    assert found.pods == ()
    assert found.counts == {kind: 1}


def test_one_replica_is_the_default() -> None:
    assert names(read(workload("Deployment"))) == ["w-0"]


def test_the_pods_of_a_workload_share_spec_owner_and_labels() -> None:
    first, second = read(workload("Deployment", replicas=2)).manifests

    assert first.spec is second.spec
    assert first.owner == Owner(kind="Deployment", name="w", uid="Deployment/t/w")
    assert first.labels == {"app": "w"}
    assert (first.namespace, first.uid) == ("t", "t/w-0")


def test_a_limit_becomes_the_request_as_at_admission() -> None:
    container = read(workload("Deployment")).manifests[0].spec.containers[0]

    assert container.requests == container.limits == ONE_GPU


def test_a_workload_with_a_pod_in_the_input_stands_for_nothing() -> None:
    existing = owned(stored_pod(), "StatefulSet", "w")

    assert names(read(workload("StatefulSet", replicas=3), existing)) == []


def test_a_pod_belongs_to_a_workload_by_uid_as_well() -> None:
    existing = owned(stored_pod(), "StatefulSet", "renamed", uid="u")

    assert names(read(with_uid(workload("StatefulSet", replicas=3), "u"), existing)) == []


def test_a_pod_belongs_to_a_deployment_through_its_replica_set() -> None:
    replica_set = owned(workload("ReplicaSet", "w-abc"), "Deployment", "w")
    existing = owned(stored_pod(), "ReplicaSet", "w-abc")

    assert names(read(workload("Deployment", replicas=3), replica_set, existing)) == []


def test_a_pod_belongs_to_a_deployment_whose_replica_set_is_not_in_the_input() -> None:
    labelled = stored_pod(labels={"pod-template-hash": "abc"})
    existing = owned(labelled, "ReplicaSet", "w-abc")

    assert names(read(workload("Deployment", replicas=3), existing)) == []


def test_a_deployment_with_its_replica_set_counts_once() -> None:
    replica_set = owned(workload("ReplicaSet", "w-abc", replicas=2), "Deployment", "w")

    assert names(read(workload("Deployment", replicas=2), replica_set)) == ["w-0", "w-1"]


def test_a_replica_set_whose_deployment_is_not_in_the_input_counts() -> None:
    replica_set = owned(workload("ReplicaSet", "w-abc"), "Deployment", "w")

    assert names(read(replica_set)) == ["w-abc-0"]


@pytest.mark.parametrize(
    ("spec", "status", "count"),
    [
        ({}, {}, 1),
        ({"parallelism": 4, "completions": 2}, {}, 2),
        ({"parallelism": 4}, {}, 4),
        ({"parallelism": 4, "completions": 6}, {"succeeded": 5}, 1),
        ({"parallelism": 4, "completions": 6}, {"active": 3}, 1),
        ({"parallelism": 4}, {"succeeded": 1}, 0),
        ({"parallelism": 4, "suspend": True}, {}, 0),
        ({}, {"conditions": [{"type": "Failed", "status": "True"}]}, 0),
    ],
)
def test_a_job_stands_for_what_it_would_still_start(
    spec: dict[str, Any], status: dict[str, Any], count: int
) -> None:
    job = {**workload("Job", **spec), "status": status}

    assert len(read(job).manifests) == count


def test_names_that_are_taken_are_skipped() -> None:
    found = read(workload("Deployment", replicas=2), workload("StatefulSet"), stored_pod("w-0"))

    assert names(found) == ["w-1", "w-2", "w-3"]


def test_a_claim_template_is_a_volume_of_the_pod() -> None:
    found = read(workload("StatefulSet", volumeClaimTemplates=[{"metadata": {"name": "data"}}]))

    assert found.manifests[0].spec.fields == ("volumes.persistentVolumeClaim",)
    assert found.manifests[0].spec.volumes == ()


def test_a_claim_that_is_still_to_be_made_for_a_manifest_is_not_looked_up() -> None:
    manifest = stored_pod("p")
    del manifest["metadata"]["uid"]
    scratch = {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {}}}
    ceph = {"name": "ceph", "rbd": {"monitors": ["m"], "image": "i"}}

    (found,) = read({**manifest, "spec": {"volumes": [scratch, ceph]}}).manifests

    assert found.spec.fields == ("volumes.persistentVolumeClaim",)
    assert [each.pool for each in found.spec.volumes if isinstance(each, DiskVolume)] == ["rbd"]


def test_a_workload_that_is_being_deleted_starts_nothing() -> None:
    leaving = workload("Deployment", replicas=3)
    leaving["metadata"]["deletionTimestamp"] = "2026-11-30T00:00:00Z"

    assert names(read(leaving)) == []


def test_too_many_replicas_are_a_problem() -> None:
    found = read(workload("Deployment", replicas=10**9))

    assert names(found) == []
    assert found.problems[0].object == "Deployment/t/w"
    assert "more than the 100000 that can be planned" in found.problems[0].message


def test_a_broken_template_is_a_problem_of_its_workload() -> None:
    broken = workload("Deployment")
    broken["spec"]["template"]["spec"]["containers"][0]["resources"] = {"limits": {"cpu": "x"}}

    found = read(broken, workload("Deployment", "other"))

    assert names(found) == ["other-0"]
    assert found.problems[0].field == 'spec.template.spec.containers[0].resources.limits["cpu"]'


def test_a_workload_of_a_foreign_group_is_ignored() -> None:
    volcano = {**workload("Job"), "apiVersion": "batch.volcano.sh/v1alpha1"}

    found = read(volcano)

    assert names(found) == []
    assert found.ignored == {"Job": 1}


def test_a_cron_job_is_ignored_with_a_note() -> None:
    found = read({"kind": "CronJob", "apiVersion": "batch/v1", "metadata": {"name": "c"}})

    assert found.ignored == {"CronJob": 1}
    assert found.notes == ("1 CronJob is not looked at; to plan for what it starts, give the Job.",)


def test_a_daemon_set_is_told_apart_with_the_tolerations_of_its_controller() -> None:
    daemon = workload("DaemonSet", "agent")
    daemon["spec"]["template"]["spec"]["hostNetwork"] = True

    found = read(daemon)

    (agent,) = found.daemon_sets
    assert agent.key == "t/agent"
    assert found.manifests == ()
    assert agent.spec.containers[0].requests == ONE_GPU
    assert [each.key.removeprefix("node.kubernetes.io/") for each in agent.spec.tolerations] == [
        "not-ready", "unreachable", "disk-pressure", "memory-pressure", "pid-pressure",
        "unschedulable", "network-unavailable",
    ]  # fmt: skip
    assert agent.spec.tolerations[0] == Toleration(
        key="node.kubernetes.io/not-ready", operator="Exists", effect="NoExecute"
    )


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, False),
        ({"priorityClassName": "system-node-critical"}, True),
        ({"priorityClassName": "system-cluster-critical"}, False),
        ({"priorityClassName": "system-node-critical", "preemptionPolicy": "Never"}, False),
    ],
)
def test_a_daemon_set_of_the_highest_class_may_push_others_away(
    spec: dict[str, str],
    expected: bool,  # noqa: FBT001 - a case
) -> None:
    daemon = workload("DaemonSet", "agent")
    daemon["spec"]["template"]["spec"].update(spec)

    (agent,) = read(daemon).daemon_sets

    assert agent.is_critical is expected


def test_a_bare_pod_manifest_is_read_as_admission_would_leave_it() -> None:
    ports = [{"containerPort": 8080}]
    manifest = {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {"name": "p", "creationTimestamp": None},
        "spec": {
            "hostNetwork": True,
            "containers": [{"name": "main", "resources": GPU, "ports": ports}],
        },
        "status": {},
    }

    found = read(manifest)

    (pod,) = found.manifests
    assert found.pods == ()
    assert pod.spec.containers[0].requests == ONE_GPU
    assert pod.spec.containers[0].host_ports == (HostPort(port=8080),)


def manifest_with_pod_resources(resources: dict[str, Any]) -> dict[str, Any]:
    containers = [
        {"name": "a", "resources": {"requests": {"cpu": "1", "hugepages-2Mi": "2Mi"}}},
        {"name": "b", "resources": {"limits": {"cpu": "2"}}},
    ]
    init = [
        {"name": "side", "restartPolicy": "Always", "resources": {"requests": {"cpu": "500m"}}},
        {"name": "init", "resources": {"requests": {"cpu": "1"}}},
    ]
    return {
        "kind": "Pod",
        "metadata": {"name": "p"},
        "spec": {"resources": resources, "containers": containers, "initContainers": init},
    }


@pytest.mark.parametrize(
    ("resources", "requests"),
    [
        ({"requests": {"cpu": "9"}, "limits": {"cpu": "10"}}, {"cpu": "9"}),
        ({"limits": {"cpu": "10"}}, {"cpu": "3500m"}),
        ({"limits": {"memory": "1Gi"}}, {"cpu": "3500m", "memory": "1Gi"}),
        ({"limits": {"hugepages-2Mi": "4Mi"}}, {"cpu": "3500m", "hugepages-2Mi": "4Mi"}),
        ({"requests": {"cpu": "9"}}, {"cpu": "9"}),
        ({}, {}),
    ],
)
def test_pod_level_requests_follow_from_containers_and_then_from_limits(
    resources: dict[str, Any], requests: dict[str, str]
) -> None:
    found = read(manifest_with_pod_resources(resources)).manifests[0].spec.requests

    assert {name: each.canonical() for name, each in found} == requests


def test_an_init_container_that_needs_more_than_the_rest_decides() -> None:
    manifest = manifest_with_pod_resources({"limits": {"cpu": "20"}})
    manifest["spec"]["initContainers"][1]["resources"]["requests"]["cpu"] = "8"

    found = read(manifest).manifests[0].spec.requests

    assert [(name, each.canonical()) for name, each in found] == [("cpu", "8500m")]


@pytest.mark.parametrize("kind", ["Deployment", "DaemonSet"])
def test_i20_a_manifest_has_its_label_keys_merged_as_a_server_would(kind: str) -> None:
    made = workload(kind)
    made["spec"]["template"]["metadata"]["labels"] = {"app": "x", "ver": "1"}
    made["spec"]["template"]["spec"]["affinity"] = {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {
                    "topologyKey": "zone",
                    "labelSelector": {"matchLabels": {"app": "x"}},
                    "matchLabelKeys": ["app", "absent"],
                    "mismatchLabelKeys": ["ver"],
                },
                {"topologyKey": "zone", "matchLabelKeys": ["app"]},
            ]
        }
    }

    found = read(made)

    spec = (found.manifests or found.daemon_sets)[0].spec
    merged, without = spec.neighbours.anti_affinity
    assert str(compile_selector(merged.selector)) == "app=x,app in (x),ver notin (1)"
    assert without.selector is None


def test_namespaces_are_known_by_their_labels() -> None:
    first = {
        "kind": "Namespace",
        "apiVersion": "v1",
        "metadata": {"name": "team", "labels": {"kind": "team"}},
    }

    found = read(first, first)

    assert found.namespaces == {"team": {"kind": "team"}}
    assert [each.object for each in found.problems] == ["Namespace/team"]
