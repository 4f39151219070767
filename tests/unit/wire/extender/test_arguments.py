"""What kube-scheduler asks an extender, as it is written by every release of it."""

import msgspec
import pytest

from springtide.wire.extender import (
    Candidates,
    MalformedArguments,
    read_binding,
    read_candidates,
)
from springtide.wire.k8s import Parts

POD = (
    b'{"metadata":{"name":"train","namespace":"default","uid":"u1","creationTimestamp":null},'
    b'"spec":{"containers":[{"name":"main","resources":{"limits":{"nvidia.com/gpu":"1"}}}]},'
    b'"status":{}}'
)


def read(body: bytes) -> Candidates:
    """Return what a body asks."""
    return read_candidates(body, Parts())


@pytest.mark.parametrize(
    "body",
    [
        b'{"Pod":%b,"Nodes":null,"NodeNames":["b","a"]}' % POD,
        b'{"pod":%b,"nodenames":["b","a"]}' % POD,
        b'{"POD":%b,"nodeNames":["x"],"NodeNames":["b","a"],"Other":{"a":[1]}}' % POD,
        b' \n{"Pod":%b,"NodeNames":["b","a"]}\n trailing {' % POD,
    ],
)
def test_names_are_read_in_any_case_and_only_from_the_first_value(body: bytes) -> None:
    candidates = read(body)

    assert candidates.pod.key == "default/train"
    assert candidates.pod.uid == "u1"
    assert candidates.names == ("b", "a")
    assert candidates.objects is None


def test_nodes_are_kept_as_they_were_sent() -> None:
    nodes = [b'{"metadata":{"name":"a"},"spec":{ "x":1}}', b'{"metadata":{"name":"b"}}']
    body = b'{"Pod":%b,"Nodes":{"metadata":{},"items":[%b]},"NodeNames":null}'

    candidates = read(body % (POD, b",".join(nodes)))

    assert candidates.names == ("a", "b")
    assert [bytes(each) for each in candidates.objects or ()] == nodes


@pytest.mark.parametrize("nodes", [b'{"metadata":{},"items":null}', b"{}", b'{"items":[]}'])
def test_a_list_of_nodes_may_be_empty_in_any_way(nodes: bytes) -> None:
    candidates = read(b'{"Pod":%b,"Nodes":%b}' % (POD, nodes))

    assert candidates.has_nodes
    assert candidates.objects == ()


def test_a_call_may_name_no_nodes_at_all() -> None:
    candidates = read(b'{"Pod":%b,"Nodes":null,"NodeNames":null}' % POD)

    assert not candidates.has_nodes


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "EOF"),
        (b"  \n", "EOF"),
        (b'{"Pod":{"metadata"', "unexpected EOF"),
        (b"{}", "extender args missing pod"),
        (b"null", "extender args missing pod"),
        (b'{"Pod":null,"NodeNames":[]}', "extender args missing pod"),
        (b"[]", "the body is not a JSON object"),
        (b"<html>", "the body is not JSON"),
        (b'\xff\xfe{"Pod":1}', "the body is not JSON"),
        (b'{"Pod":"text","NodeNames":[]}', "Pod cannot be read"),
        (b'{"Pod":{"metadata":{}},"NodeNames":[]}', "Pod cannot be read: metadata.name"),
        (b'{"Pod":%b,"NodeNames":[1]}' % POD, "NodeNames cannot be read"),
        (b'{"Pod":%b,"NodeNames":["a"],"Nodes":{"items":[]}}' % POD, "exclude each other"),
        (b'{"Pod":%b,"Nodes":{"items":[{}]}}' % POD, "a node of Nodes has no name"),
        (b'{"Pod":%b,"Nodes":{"items":[null]}}' % POD, "a node of Nodes cannot be read"),
        (b'{"Pod":%b,"Nodes":[]}' % POD, "Nodes is not a JSON object"),
        (b'{"Pod":' + b"[" * 100_000, "the body is not JSON"),
    ],
)
def test_what_makes_no_sense_is_told(body: bytes, words: str) -> None:
    with pytest.raises(MalformedArguments, match=words):
        read(body)


def test_a_binding_is_read() -> None:
    body = b'{"PodName":"train","PodNamespace":"default","PodUID":"u1","Node":"a"}'

    arguments = read_binding(body)

    assert msgspec.to_builtins(arguments) == {
        "name": "train",
        "namespace": "default",
        "uid": "u1",
        "node": "a",
    }


@pytest.mark.parametrize("key", ["PodName", "PodNamespace", "Node"])
def test_a_binding_says_which_pod_and_node(key: str) -> None:
    said = {"PodName": "train", "PodNamespace": "default", "PodUID": "u1", "Node": "a", key: ""}

    with pytest.raises(MalformedArguments, match=f"missing {key}"):
        read_binding(msgspec.json.encode(said))
