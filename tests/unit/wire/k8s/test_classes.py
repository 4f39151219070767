"""Manifests get what the classes that they name add; stored pods have it already."""

import json
from typing import Any

from springtide.model.pod import Pod
from springtide.wire.documents import Input, decode
from springtide.wire.source import Source

TOLERATION = {"key": "sandbox", "operator": "Exists"}
GVISOR = {
    "apiVersion": "node.k8s.io/v1",
    "kind": "RuntimeClass",
    "metadata": {"name": "gvisor"},
    "overhead": {"podFixed": {"cpu": "250m", "memory": "120Mi"}},
    "scheduling": {"nodeSelector": {"runtime": "gvisor"}, "tolerations": [TOLERATION]},
}


def read(*documents: dict[str, Any]) -> Input:
    return decode(
        [Source(f"in-{n}", json.dumps(each).encode()) for n, each in enumerate(documents)]
    )


def priority(name: str, value: int, **fields: Any) -> dict[str, Any]:
    version = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass"}
    return {**version, "metadata": {"name": name}, "value": value, **fields}


def pod(uid: str = "", **spec: Any) -> dict[str, Any]:
    metadata = {"name": "p", **({"uid": uid} if uid else {})}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def manifest(*documents: dict[str, Any]) -> Pod:
    (only,) = read(*documents).manifests
    return only


def test_a_class_gives_its_priority_wherever_it_stands() -> None:
    urgent = priority("urgent", 7)
    names = pod(priorityClassName="urgent")

    assert manifest(urgent, names).spec.priority == 7
    assert manifest(names, urgent).spec.priority == 7
    assert manifest(names).spec.priority == 0


def test_the_default_class_is_for_pods_without_one() -> None:
    default = priority("usual", 5, globalDefault=True)

    assert manifest(default, pod()).spec.priority == 5
    assert (
        manifest(default, pod(priorityClassName="urgent"), priority("urgent", 7)).spec.priority == 7
    )
    assert manifest(default, pod(priority=3)).spec.priority == 3


def test_a_class_may_forbid_preemption() -> None:
    patient = priority("patient", 7, preemptionPolicy="Never")

    assert not manifest(patient, pod(priorityClassName="patient")).spec.may_preempt
    assert manifest(priority("urgent", 7), pod(priorityClassName="urgent")).spec.may_preempt
    usual = priority("usual", 0, preemptionPolicy="Never", globalDefault=True)
    assert not manifest(usual, pod()).spec.may_preempt


def test_the_classes_of_the_system_are_always_there_and_may_be_given() -> None:
    name = "system-node-critical"

    found = read(priority(name, 2000001000), pod(priorityClassName=name))

    assert found.problems == ()
    assert found.manifests[0].spec.priority == 2000001000
    assert manifest(pod(priorityClassName=name)).spec.priority == 2000001000


def test_a_runtime_costs_and_chooses_its_nodes() -> None:
    spec = manifest(GVISOR, pod(runtimeClassName="gvisor", nodeSelector={"a": "b"})).spec

    assert [name for name, _ in spec.overhead] == ["cpu", "memory"]
    assert spec.node_selector == (("a", "b"), ("runtime", "gvisor"))
    assert [each.key for each in spec.tolerations] == ["sandbox"]


def test_pods_of_workloads_get_them_too_and_share_one_spec() -> None:
    template = {"spec": {"runtimeClassName": "gvisor", "priorityClassName": "urgent"}}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "d"},
        "spec": {"replicas": 2, "template": template},
    }
    daemon_set = {**deployment, "kind": "DaemonSet", "spec": {"template": template}}

    found = read(deployment, daemon_set, GVISOR, priority("urgent", 7))

    first, second = found.manifests
    assert first.spec is second.spec
    assert (first.spec.priority, len(first.spec.overhead)) == (7, 2)
    assert found.daemon_sets[0].spec.priority == 7


def test_a_stored_pod_is_left_as_it_is() -> None:
    (stored,) = read(GVISOR, pod("uid", runtimeClassName="gvisor")).pods

    assert stored.spec.overhead == ()


def test_a_class_that_is_given_twice_or_cannot_be_read_is_a_problem() -> None:
    broken = {**GVISOR, "overhead": {"podFixed": {"cpu": "much"}}}

    found = read(GVISOR, GVISOR, {**broken, "metadata": {"name": "broken"}})

    assert [each.object for each in found.problems] == [
        "RuntimeClass/gvisor",
        "RuntimeClass/broken",
    ]
    assert found.problems[1].field == 'overhead.podFixed["cpu"]'
