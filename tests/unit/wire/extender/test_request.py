"""Filter calls carry the keys of the Go types and one of the two forms of nodes."""

import json

from springtide.wire.extender import request_with_names, request_with_nodes


def test_nodes_are_sent_whole_and_in_order() -> None:
    body = request_with_nodes(b'{"metadata":{"name":"p"}}', [b'{"a":1}', b'{"b":2}'])

    assert json.loads(body) == {
        "Pod": {"metadata": {"name": "p"}},
        "Nodes": {"metadata": {}, "items": [{"a": 1}, {"b": 2}]},
        "NodeNames": None,
    }


def test_names_are_sent_instead_of_nodes() -> None:
    body = request_with_names(b"{}", ["n1", 'n"2'])

    assert json.loads(body) == {"Pod": {}, "Nodes": None, "NodeNames": ["n1", 'n"2']}
