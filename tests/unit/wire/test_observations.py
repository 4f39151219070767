"""What programs answer that are asked which members there are."""

import pytest

from springtide.model.replicas.execution import Node, NodeState, Observation
from springtide.wire.errors import MalformedObject
from springtide.wire.observations import BYTES_MAX, read_observation


def test_a_number_alone_is_enough() -> None:
    found = read_observation(b" 2\n")

    assert found == Observation(replicas=2)
    assert [each.index for each in found.members] == [1, 2]


def test_members_may_be_listed_in_any_order() -> None:
    body = b'{"replicas": 2, "nodes": [{"index": 2, "state": "Starting"}, {"index": 1, "id": "a"}], "more": 1}'

    assert read_observation(body).members == (
        Node(id="a", index=1),
        Node(id="2", index=2, state=NodeState.STARTING),
    )


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "no JSON"),
        (b"\xff", "no JSON"),
        (b"true", "a map belongs"),
        (b"2.5", "a map belongs"),
        (b"-1", "cannot be"),
        (b'{"replicas": 1000001}', "cannot be"),
        (b'{"nodes": []}', "replicas"),
        (b'{"replicas": 1, "nodes": [{"index": 0}]}', "count from 1"),
        (b'{"replicas": 2, "nodes": [{"index": 1}, {"index": 1}]}', "twice"),
        (b'{"replicas": 2, "nodes": [{"index": 1}]}', "list all or none"),
        (b'{"replicas": 1, "nodes": [{"index": 1, "state": "Odd"}]}', "state"),
        (b" " * (BYTES_MAX + 1), "at most"),
    ],
)
def test_what_is_no_observation_is_told(body: bytes, words: str) -> None:
    with pytest.raises(MalformedObject, match=words):
        read_observation(body)
