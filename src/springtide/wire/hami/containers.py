"""What each container of a pod was given: `GPU-a,NVIDIA,3000,30:;` and its kin.

A value is one segment a container, each ended by `;`; a segment is one `id,type,memory,cores:` a
device. Segments are positions: init containers come first, a container without devices is an empty
segment, so reading never drops one. Because the last segment ends with `;` too, reading yields one
surplus empty container at the end.
"""

from collections.abc import Sequence

from springtide.model.device import Grant
from springtide.wire.hami.errors import Malformed
from springtide.wire.hami.numbers import read_int32

_FIELDS = 4


def encode(containers: Sequence[Sequence[Grant]]) -> str:
    """Return the annotation value for these containers' grants."""
    return "".join("".join(map(_encoded, grants)) + ";" for grants in containers)


def decode(text: str) -> tuple[tuple[Grant, ...], ...]:
    """Return the grants by position, the surplus last one included, or raise Malformed."""
    return tuple([_segment(segment) if segment else () for segment in text.split(";")])


def entries(text: str) -> tuple[tuple[Grant, ...], ...]:
    """Return the grants by position without the surplus one, or raise Malformed.

    A list whose end is missing has none: what its last entry says is held all the same.
    """
    decoded = decode(text)
    return decoded if decoded[-1] else decoded[:-1]


def _encoded(grant: Grant) -> str:
    return f"{grant.device_id},{grant.type},{grant.memory_mib},{grant.cores}:"


def _segment(text: str) -> tuple[Grant, ...]:
    grants = [_grant(part.split(",")) for part in text.split(":") if "," in part]
    # Older schedulers wrote a device without an id for a container that asks for none.
    return tuple([grant for grant in grants if grant.device_id])


def _grant(fields: list[str]) -> Grant:
    if len(fields) < _FIELDS:
        raise Malformed(
            "pod annotation format error, missing fields, do not use nodeName in task spec"
        )
    return Grant(
        device_id=fields[0],
        type=fields[1],
        memory_mib=read_int32(fields[2], "memory"),
        cores=read_int32(fields[3], "core"),
    )
