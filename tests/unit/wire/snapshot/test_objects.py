"""Which objects a snapshot takes, from whatever they stand in."""

import json
from typing import Any

import pytest

from springtide.wire.errors import MalformedDocument
from springtide.wire.snapshot import found
from springtide.wire.source import Source

NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}}
POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}


def source(*documents: Any, name: str = "file.json") -> Source:
    return Source(name, b"\n".join(json.dumps(each).encode() for each in documents))


def test_documents_and_lists_are_taken_apart_in_order() -> None:
    inner = {"apiVersion": "v1", "kind": "List", "items": [POD]}
    document = {"apiVersion": "v1", "kind": "List", "items": [NODE, inner]}

    read = found([source(document, POD), Source("b.yaml", b"kind: Pod\n---\nkind: Node\n")])

    kinds = [each["kind"] for each in read.objects]
    assert kinds == ["Node", "Pod", "Pod", "Pod", "Node"]


def test_items_of_a_typed_list_get_their_kind_back() -> None:
    pages = {"apiVersion": "apps/v1", "kind": "DaemonSetList", "items": [{"metadata": {}}]}

    (each,) = found([source(pages)]).objects

    assert (each["apiVersion"], each["kind"]) == ("apps/v1", "DaemonSet")


def test_a_flow_map_in_a_yaml_file_is_yaml() -> None:
    (each,) = found([Source("a.yaml", b"{kind: Pod, apiVersion: v1}")]).objects

    assert each["kind"] == "Pod"


def test_what_decides_nothing_is_counted_and_left_out() -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "data": {"a": "c2VjcmV0"}}
    event = {"apiVersion": "v1", "kind": "Event"}
    foreign = {"apiVersion": "example.com/v1", "kind": "Node"}

    read = found([source(secret, NODE, event, event, foreign, {"a": 1})])

    assert read.objects == (NODE,)
    assert read.left_out == {"Event": 2, "Node": 1, "Secret": 1, "objects without a kind": 1}


def test_of_a_config_map_only_configurations_stay() -> None:
    config = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "c"},
        "data": {"device-config.yaml": "nvidia: {}", "password": "secret"},
        "binaryData": {"b": "YQ=="},
    }
    other = {**config, "data": {"password": "secret"}}

    read = found([source(config, other)])

    assert [each["data"] for each in read.objects] == [{"device-config.yaml": "nvidia: {}"}]
    assert "binaryData" not in read.objects[0]
    assert read.left_out == {"ConfigMap": 1}


def test_configurations_and_our_own_documents_stay() -> None:
    documents = [
        {"apiVersion": "springtide.io/v1alpha1", "kind": "NodeGroups", "groups": []},
        {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"},
        {"nvidia": {"resourceCountName": "nvidia.com/gpu"}},
        {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget"},
        {"apiVersion": "resource.k8s.io/v1beta1", "kind": "ResourceSlice"},
    ]

    read = found([source(*documents)])

    assert list(read.objects) == documents


def test_what_is_no_document_is_told_with_its_line() -> None:
    with pytest.raises(MalformedDocument, match=r"file\.json, line 2: "):
        found([Source("file.json", b'{"kind": "Pod"}\n{"kind": ')])
