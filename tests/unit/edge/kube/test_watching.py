"""Lines out of bytes that come in any pieces."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from springtide.edge.cluster import Malformed
from springtide.edge.kube import watching
from springtide.edge.kube.watching import Lines


@given(st.lists(st.binary().map(lambda each: each.replace(b"\n", b"")), max_size=9), st.data())
def test_lines_come_out_as_they_went_in(lines: list[bytes], data: st.DataObject) -> None:
    whole = b"".join(line + b"\n" for line in lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=9)))
    pieces = [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    cutter = Lines("/pods")

    found = [line for piece in pieces for line in cutter.feed(piece)]

    assert found == [line for line in lines if line]
    assert not cutter.is_inside


def test_an_end_inside_of_a_line_is_noticed() -> None:
    cutter = Lines("/pods")

    assert list(cutter.feed(b"a\nb")) == [b"a"]
    assert cutter.is_inside


def test_a_line_without_end_is_not_collected_for_ever() -> None:
    cutter = Lines("/pods")
    piece = b"x" * (watching.LINE_BYTES_MAX // 2 + 1)

    assert list(cutter.feed(piece)) == []
    with pytest.raises(Malformed, match="more than 32 MiB for one object"):
        list(cutter.feed(piece))
