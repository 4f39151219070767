"""Reviews of pods, and the answers to them, in both versions of the API."""

import base64
from typing import Any

import msgspec
import pytest

from springtide.base.quantity import of
from springtide.wire.admission import (
    MalformedReview,
    Patch,
    add_environment,
    allowed,
    creation,
    read_review,
    refused,
    set_amounts,
)
from springtide.wire.errors import MalformedObject
from springtide.wire.k8s import Parts

POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"generateName": "train-", "annotations": {"a": "b"}},
    "spec": {"containers": [{"name": "main"}]},
}


def body(pod: object = POD, *, version: str = "v1", **request: object) -> bytes:
    """Return a review."""
    said = {"uid": "r1", "namespace": "team", "operation": "CREATE", "object": pod, **request}
    kind = "AdmissionReview"
    return msgspec.json.encode(
        {"apiVersion": f"admission.k8s.io/{version}", "kind": kind, "request": said}
    )


def answered(data: bytes) -> dict[str, Any]:
    """Return the response of an answer."""
    read: dict[str, Any] = msgspec.json.decode(data)
    return dict(read["response"])


def patched(pod: Any, operations: list[dict[str, Any]]) -> Any:
    """Apply additions and removals as the API server does."""
    for operation in operations:
        *above, last = [
            step.replace("~1", "/").replace("~0", "~")
            for step in operation["path"].removeprefix("/").split("/")
        ]
        at = pod
        for step in above:
            at = at[int(step)] if isinstance(at, list) else at[step]
        if operation["op"] == "remove":
            del at[last]
        elif isinstance(at, list):
            assert last == "-"
            at.append(operation["value"])
        else:
            at[last] = operation["value"]
    return pod


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_a_review_is_answered_in_its_version(version: str) -> None:
    review = read_review(body(version=version))

    answer = msgspec.json.decode(allowed(review))

    assert answer == {
        "apiVersion": f"admission.k8s.io/{version}",
        "kind": "AdmissionReview",
        "response": {"uid": "r1", "allowed": True},
    }


def test_a_pod_without_a_name_gets_the_namespace_of_the_request() -> None:
    made = creation(read_review(body()), Parts())

    assert made.pod.key == "team/train-"
    assert (made.scheduler_name, made.privileged, made.has_runtime_class) == ("", "", False)


def test_what_admission_looks_at_is_read_from_the_pod_as_it_is_written() -> None:
    containers = [
        {"name": "first", "securityContext": {"privileged": False}},
        {"name": "second", "securityContext": {"privileged": True}},
    ]
    spec = {"schedulerName": "other", "runtimeClassName": "nvidia", "containers": containers}

    made = creation(read_review(body({**POD, "spec": spec})), Parts())

    assert made.scheduler_name == "other"
    assert made.privileged == "second"
    assert made.has_runtime_class


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"{}",
        b'{"apiVersion":"admission.k8s.io/v2","kind":"AdmissionReview","request":{"uid":"1"}}',
        b'{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}',
        b'{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{}}',
        b'{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":1}}',
    ],
)
def test_a_body_that_is_no_review_is_told(data: bytes) -> None:
    with pytest.raises(MalformedReview):
        read_review(data)


@pytest.mark.parametrize(
    "pod", [None, [], {"metadata": {"labels": 1}}, {"spec": {"containers": 3}}]
)
def test_a_pod_that_cannot_be_read_is_told(pod: object) -> None:
    review = read_review(body(pod))

    with pytest.raises(MalformedObject):
        creation(review, Parts())


def test_other_requests_than_creations_are_told_apart() -> None:
    assert not read_review(body(operation="UPDATE")).is_creation
    assert not read_review(body(kind={"group": "apps", "kind": "Deployment"})).is_creation


def test_a_denial_has_a_code_and_a_reason() -> None:
    response = answered(refused(read_review(body()), "pod has no containers"))

    assert response == {
        "uid": "r1",
        "allowed": False,
        "status": {"code": 403, "reason": "Forbidden", "message": "pod has no containers"},
    }


def test_changes_are_a_patch_that_makes_what_is_missing() -> None:
    review = read_review(body())
    before = creation(review, Parts()).pod.spec
    amounts = (("nvidia.com/gpu", of(1)),)
    container = msgspec.structs.replace(before.containers[0], limits=amounts, requests=amounts)
    patch = Patch(review.raw)

    set_amounts(
        patch, before=before, after=msgspec.structs.replace(before, containers=(container,))
    )
    add_environment(patch, before, [("main", "A", "1"), ("main", "B", "2")])
    patch.set(("spec", "schedulerName"), "hami-scheduler")
    patch.remove(("metadata", "annotations", "a"))
    patch.remove(("metadata", "labels", "never"))
    response = answered(allowed(review, patch.operations))

    changed = patched(
        msgspec.json.decode(msgspec.json.encode(POD)),
        msgspec.json.decode(base64.b64decode(response["patch"])),
    )
    assert response["patchType"] == "JSONPatch"
    assert changed["metadata"]["annotations"] == {}
    assert changed["spec"] == {
        "schedulerName": "hami-scheduler",
        "containers": [
            {
                "name": "main",
                "resources": {
                    "limits": {"nvidia.com/gpu": "1"},
                    "requests": {"nvidia.com/gpu": "1"},
                },
                "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
            }
        ],
    }


def test_changes_leave_alone_what_is_already_so() -> None:
    spec = {"containers": [{"name": "main", "resources": {"limits": {"x.com/y": "1"}}, "env": []}]}
    review = read_review(body({**POD, "spec": spec}))
    before = creation(review, Parts()).pod.spec
    patch = Patch(review.raw)

    set_amounts(patch, before=before, after=before)
    add_environment(patch, before, [("main", "A", "1")])

    assert patch.operations == [
        {"op": "add", "path": "/spec/containers/0/env/-", "value": {"name": "A", "value": "1"}}
    ]
