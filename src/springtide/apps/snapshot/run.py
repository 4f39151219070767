"""One snapshot: sources in, one `List` out, an object a line and the same bytes for the same input.

The order of objects is that of the input, because a plan may depend on it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from springtide.wire.snapshot import Names, anonymised, found, trimmed
from springtide.wire.source import Source

_BEGIN: Final = b'{"apiVersion":"v1","kind":"List","items":[\n'
_BETWEEN: Final = b",\n"
_END: Final = b"\n]}\n"
_ENCODER: Final = msgspec.json.Encoder(order="deterministic")


class Choices(msgspec.Struct, frozen=True, kw_only=True):
    """What is kept; with a `key` everything is under other names, the same ones for the same key."""

    keeps_arguments: bool = False
    key: bytes | None = None


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """The document, how many objects are in it, and how many of which kinds were left out."""

    data: bytes
    objects: int
    left_out: Mapping[str, int]


def run(sources: Sequence[Source], choices: Choices) -> Snapshot:
    """Return the snapshot of all that the sources say, or raise MalformedDocument."""
    read = found(sources)
    objects = [trimmed(each, keeps_arguments=choices.keeps_arguments) for each in read.objects]
    if choices.key is not None:
        objects = anonymised(objects, Names(choices.key))
    return Snapshot(data=_document(objects), objects=len(objects), left_out=read.left_out)


def _document(objects: Iterable[Mapping[str, object]]) -> bytes:
    return _BEGIN + _BETWEEN.join(_ENCODER.encode(each) for each in objects) + _END
