"""Node objects as model records."""

import json
from typing import Any

import pytest

from springtide.base import quantity
from springtide.base.taints import Taint
from springtide.model.node import Node
from springtide.wire.errors import MalformedObject
from springtide.wire.k8s import Parts, decode_node


def node(**fields: Any) -> Node:
    return decode_node(json.dumps({"metadata": {"name": "n"}, **fields}).encode(), Parts())


def test_all_that_decides_about_a_node_is_read() -> None:
    read = {
        "kind": "Node",
        "apiVersion": "v1",
        "metadata": {
            "name": "n", "uid": "u", "labels": {"a": "b"}, "annotations": {"c": "d"},
            "creationTimestamp": "2026-11-30T00:00:00Z", "managedFields": [{}],
        },
        "spec": {
            "providerID": "cloud:///n", "unschedulable": True,
            "taints": [{"key": "k", "effect": "NoExecute", "timeAdded": None}],
        },
        "status": {
            "capacity": {"cpu": "2"}, "allocatable": {"cpu": "1500m"},
            "conditions": [{"type": "Ready", "status": "False", "reason": "x"}], "images": [{}],
        },
    }  # fmt: skip

    found = decode_node(json.dumps(read).encode(), Parts())

    assert found == Node(
        name="n",
        uid="u",
        labels={"a": "b"},
        annotations={"c": "d"},
        created="2026-11-30T00:00:00Z",
        provider_id="cloud:///n",
        is_unschedulable=True,
        taints=(Taint(key="k", effect="NoExecute"),),
        capacity=(("cpu", quantity.parse("2")),),
        allocatable=(("cpu", quantity.parse("1500m")),),
        conditions={"Ready": "False"},
    )
    assert not found.is_ready


def test_a_node_may_lack_everything_but_its_name() -> None:
    assert node() == Node(name="n")


def test_a_node_without_a_name_is_malformed() -> None:
    with pytest.raises(MalformedObject, match=r"metadata\.name: the node has no name"):
        node(metadata={})


def test_a_malformed_amount_is_named() -> None:
    with pytest.raises(MalformedObject, match=r'status\.allocatable\["memory"\]: "1Gb" is not'):
        node(status={"allocatable": {"memory": "1Gb"}})


def test_a_label_that_is_no_text_is_named() -> None:
    with pytest.raises(MalformedObject, match=r'metadata\.labels\["b"\]: this is a whole number'):
        node(metadata={"name": "n", "labels": {"a": "x", "b": 5}})
