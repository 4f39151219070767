"""Lines of a watch, however they are cut on their way."""

import asyncio
from collections.abc import AsyncIterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from springtide.edge.store import Denied, Malformed
from springtide.edge.store.etcd.watching import Compacted, lines, message

COMPACTED = (
    b'{"result":{"canceled":true,"cancel_reason":"mvcc: required revision has been compacted"}}'
)
WHOLE = [b'{"result":{"created":true}}', b"{}", b'{"result":{"watch_id":"2"}}']


async def parts_of(data: bytes, cuts: list[int]) -> AsyncIterator[bytes]:
    ends = sorted({0, len(data), *(each % len(data) for each in cuts)})
    for start, end in pairwise(ends):
        yield data[start:end]


@given(st.lists(st.integers(0, 1000), max_size=20))
def test_lines_come_whole_wherever_they_are_cut(cuts: list[int]) -> None:
    data = b"".join(each + b"\n\n" for each in WHOLE)

    async def read() -> list[bytes]:
        return [each async for each in lines(parts_of(data, cuts))]

    assert asyncio.run(read()) == WHOLE


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (b'{"result":{"canceled":true,"compact_revision":"7"}}', Compacted),
        (COMPACTED, Compacted),
        (b'{"result":{"canceled":true,"cancel_reason":"etcdserver: permission denied"}}', Denied),
        (b'{"error":{"message":"etcdserver: permission denied"}}', Denied),
        (b"{}", Malformed),
        (b"<html>", Malformed),
    ],
)
def test_a_line_that_ends_a_watch_says_why(line: bytes, kind: type[Exception]) -> None:
    with pytest.raises(kind):
        message(line, has_user=False)


def test_large_numbers_and_keys_are_read() -> None:
    line = (
        b'{"result":{"header":{"cluster_id":"14841639068965178418","revision":"9"},"watch_id":"3",'
        b'"events":[{"kv":{"key":"Zm9v","value":"YmFy","mod_revision":"9","version":"1"}},'
        b'{"type":"DELETE","kv":{"key":"Zm9v","mod_revision":"10"}}]}}'
    )

    told = message(line, has_user=False)

    assert (told.watch_id, told.header.revision) == (3, 9)
    assert [each.type for each in told.events] == ["", "DELETE"]
    assert told.events[0].kv.key == b"foo"
    assert told.events[0].kv.value == b"bar"
