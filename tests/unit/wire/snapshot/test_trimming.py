"""What is taken out of objects before anybody sees them."""

import json
from typing import Any

import pytest

from springtide.wire.snapshot import trimmed

SECRET = "the secret"


def pod(container: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    return {
        "kind": "Pod",
        "metadata": {"name": "p", **metadata},
        "spec": {"containers": [container]},
    }


@pytest.mark.parametrize(
    "container",
    [
        {"env": [{"name": "TOKEN", "value": SECRET}]},
        {"args": ["--token", SECRET]},
        {"command": [SECRET]},
        {"livenessProbe": {"exec": {"command": [SECRET]}}},
        {"lifecycle": {"preStop": {"exec": {"command": [SECRET]}}}},
        {"env": [SECRET]},
    ],
)
def test_what_containers_are_told_is_left_out(container: dict[str, Any]) -> None:
    own = {"name": "main", **container}
    inits = {"kind": "Pod", "spec": {"initContainers": [own], "ephemeralContainers": [own]}}
    template = {"kind": "Job", "spec": {"template": pod(own)}}

    kept = [trimmed(each) for each in (pod(own), inits, template)]

    assert SECRET not in json.dumps(kept)
    assert kept[0]["spec"]["containers"][0]["name"] == "main"


def test_names_of_variables_and_where_they_come_from_stay() -> None:
    by_name = {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}
    container = {"env": [by_name], "envFrom": [{"configMapRef": {"name": "c"}}]}

    kept = trimmed(pod(container))

    assert kept["spec"]["containers"] == [container]


def test_arguments_stay_only_if_they_are_wanted() -> None:
    container = {"command": ["run"], "args": ["--fast"], "env": [{"name": "A", "value": SECRET}]}

    kept = trimmed(pod(container), keeps_arguments=True)

    (own,) = kept["spec"]["containers"]
    assert own == {"command": ["run"], "args": ["--fast"], "env": [{"name": "A"}]}


def test_records_of_who_wrote_what_are_left_out() -> None:
    annotations = {"kubectl.kubernetes.io/last-applied-configuration": SECRET, "keep": "me"}

    kept = trimmed(pod({}, managedFields=[{"fieldsV1": SECRET}], annotations=annotations))

    assert kept["metadata"] == {"name": "p", "annotations": {"keep": "me"}}


def test_what_storage_drivers_are_told_is_left_out() -> None:
    volume = {"spec": {"csi": {"driver": "d", "volumeAttributes": {"password": SECRET}}}}

    assert trimmed(volume) == {"spec": {"csi": {"driver": "d"}}}
    assert trimmed({"kind": "StorageClass", "parameters": {"a": SECRET}}) == {
        "kind": "StorageClass"
    }


def test_labels_are_not_taken_for_fields() -> None:
    labels = {"parameters": "a", "selfLink": "b"}

    assert trimmed(pod({}, labels=labels))["metadata"]["labels"] == labels


@pytest.mark.parametrize(
    "broken",
    [
        {"spec": {"containers": "none"}},
        {"spec": {"containers": ["none"]}},
        {"metadata": {"annotations": 7}},
    ],
)
def test_a_broken_object_stays_as_broken_as_it_is(broken: dict[str, Any]) -> None:
    assert trimmed(broken) == broken
