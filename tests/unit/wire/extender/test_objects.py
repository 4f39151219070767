"""What extenders see: objects as they were given, without what no extender needs."""

import json
from typing import Any

import pytest
from msgspec.structs import replace

from springtide.base.taints import Taint
from springtide.model.pod import Owner
from springtide.wire.extender import appearance, node_object, pod_object, template_object
from springtide.wire.k8s.parts import Parts
from springtide.wire.k8s.single import decode_pod
from tests.builders import node, pod


def raw(**value: Any) -> bytes:
    return json.dumps(value).encode()


def sent(**value: Any) -> str:
    given = {"metadata": {"name": "p", "namespace": "n", "uid": "u"}, **value}
    return appearance(json.dumps(given).encode())


def spec(**fields: Any) -> dict[str, Any]:
    return {"containers": [{"name": "c", "image": "i", **fields}]}


def test_a_node_keeps_everything_but_its_managed_fields_and_images() -> None:
    encoded = node_object(
        raw(
            apiVersion="v1",
            kind="Node",
            metadata={"name": "n", "managedFields": [{}], "annotations": {"a": "b"}},
            spec={"podCIDR": "10.0.0.0/24"},
            status={"images": [{"names": ["x"]}], "nodeInfo": {"architecture": "arm64"}},
        )
    )

    assert json.loads(encoded) == {
        "metadata": {"name": "n", "annotations": {"a": "b"}},
        "spec": {"podCIDR": "10.0.0.0/24"},
        "status": {"nodeInfo": {"architecture": "arm64"}},
    }


def test_a_template_is_a_whole_node_with_what_its_origin_says_of_itself() -> None:
    origin = raw(
        metadata={"name": "live", "uid": "u"},
        status={"nodeInfo": {"architecture": "arm64"}, "addresses": [{"address": "10.0.0.1"}]},
    )
    made = node(
        "template",
        cpu=4,
        memory="8Gi",
        labels={"pool": "a"},
        annotations={"licences": "2"},
        taints=[Taint(key="k", value="v")],
    )

    encoded = template_object(made, origin)

    amounts = {"cpu": "4", "memory": "8Gi", "pods": "110"}
    assert json.loads(encoded) == {
        "metadata": {
            "name": "template",
            "labels": {"pool": "a"},
            "annotations": {"licences": "2"},
            "creationTimestamp": None,
        },
        "spec": {"taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}]},
        "status": {
            "capacity": amounts,
            "allocatable": amounts,
            "conditions": [{"type": "Ready", "status": "True"}],
            "nodeInfo": {"architecture": "arm64"},
        },
    }


def test_a_described_template_needs_no_origin() -> None:
    encoded = json.loads(template_object(node("template"), None))

    assert encoded["metadata"]["name"] == "template"
    assert "nodeInfo" not in encoded["status"]


def test_a_stored_pod_is_sent_as_it_stands() -> None:
    given = raw(
        kind="Pod",
        metadata={"name": "p", "namespace": "n", "uid": "u", "managedFields": [{}], "labels": {}},
        spec=spec(env=[{"name": "A", "value": "b"}]),
        status={"phase": "Pending", "conditions": []},
    )

    encoded = pod_object(decode_pod(given, Parts()), given)

    assert json.loads(encoded) == {
        "metadata": {"name": "p", "namespace": "n", "uid": "u", "labels": {}},
        "spec": spec(env=[{"name": "A", "value": "b"}]),
        "status": {"phase": "Pending", "conditions": []},
    }


def test_a_pod_of_a_manifest_is_completed() -> None:
    template = raw(
        metadata={"labels": {"app": "a"}},
        spec=spec(resources={"limits": {"example.com/licence": 1}}),
    )
    owner = Owner(kind="Job", name="j", uid="ju")
    made = replace(pod("j-0", others={"example.com/licence": 1}, priority=7), owner=owner)

    encoded = json.loads(pod_object(made, template, is_stored=False))

    assert encoded["metadata"] == {
        "labels": {"app": "a"},
        "name": "j-0",
        "namespace": "default",
        "uid": made.uid,
        "ownerReferences": [{"kind": "Job", "name": "j", "uid": "ju", "controller": True}],
    }
    assert encoded["spec"]["schedulerName"] == "default-scheduler"
    assert encoded["spec"]["priority"] == 7
    assert encoded["spec"]["containers"][0]["resources"] == {
        "requests": {"example.com/licence": "1"},
        "limits": {"example.com/licence": "1"},
    }
    assert encoded["status"] == {"phase": "Pending"}


@pytest.mark.parametrize(
    "other",
    [
        {"metadata": {"name": "q", "namespace": "n", "uid": "v", "generateName": "q-"}},
        {"metadata": {"namespace": "n", "annotations": {"checksum/config": "1"}}},
        {"spec": spec(env=[{"name": "A", "value": "1"}], volumeMounts=[{"name": "token-x"}])},
        {"spec": {**spec(), "hostname": "p-0", "volumes": [{"name": "t", "projected": {}}]}},
        {"spec": {**spec(), "volumes": None}},
        {"status": {"phase": "Pending"}},
    ],
)
def test_replicas_look_alike(other: dict[str, Any]) -> None:
    assert sent(**{"spec": spec(), **other}) == sent(spec=spec())


@pytest.mark.parametrize(
    "other",
    [
        {"metadata": {"namespace": "m"}},
        {"metadata": {"namespace": "n", "annotations": {"nvidia.com/use-gputype": "A10"}}},
        {"metadata": {"namespace": "n", "labels": {"team": "a"}}},
        {"spec": spec(image="j")},
        {"spec": {**spec(), "volumes": [{"name": "d", "hostPath": {"path": "/d"}}]}},
        {"spec": {**spec(), "initContainers": [{"name": "i"}]}},
    ],
)
def test_pods_that_an_extender_may_tell_apart_do_not_look_alike(other: dict[str, Any]) -> None:
    assert sent(**{"spec": spec(), **other}) != sent(spec=spec())
