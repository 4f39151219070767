"""The answer to a filter call about nodes that do not exist: `ExtenderFilterResult` with what we add.

Every standard field is there, nodes that fit byte for byte as they were sent. `allocations` and `contract`
are read by callers that know of them, and passed over by others.
"""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Final

import msgspec

CONTRACT: Final = "v1"
NOTHING: Final = msgspec.Raw(b"{}")


class ErrorClass(StrEnum):
    """Why a call as a whole could not be answered. Public: `Error` begins with it."""

    MALFORMED = "Malformed"
    INVALID = "Invalid"
    TOO_LARGE = "TooLarge"
    OVERLOADED = "Overloaded"
    DEADLINE_EXCEEDED = "DeadlineExceeded"
    DENIED = "Denied"


class Annotated(msgspec.Struct, frozen=True, kw_only=True):
    """Annotations that a pod would get on several nodes, whose names go where `marker` stands.

    `nodes` are the names, each with what stands for it in the annotations.
    """

    annotations: Mapping[str, str]
    nodes: Sequence[tuple[str, str]]
    marker: str


class _Rest(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    rename={
        "node_names": "NodeNames",
        "failed_nodes": "FailedNodes",
        "failed_and_unresolvable_nodes": "FailedAndUnresolvableNodes",
        "error": "Error",
    },
):
    """All fields but the nodes, which may be tens of megabytes and are joined to it."""

    node_names: None = None
    failed_nodes: Mapping[str, str] | None = None
    failed_and_unresolvable_nodes: Mapping[str, str] | None = None
    error: str = ""
    allocations: msgspec.Raw = NOTHING
    contract: str = CONTRACT


_ENCODER: Final = msgspec.json.Encoder()

Pieces = list[bytes | memoryview]
"""An answer; joined, it is a JSON text."""


def simulation_result(
    fitting: Iterable[msgspec.Raw],
    *,
    failed: Mapping[str, str],
    unresolvable: Mapping[str, str],
    allocations: Iterable[Annotated] = (),
) -> Pieces:
    """Return the answer with the nodes that fit, why the others do not, and what the pod would get.

    It is in pieces, because nodes may be tens of megabytes and are where the call has them.
    """
    rest = _Rest(
        failed_nodes=failed,
        failed_and_unresolvable_nodes=unresolvable,
        allocations=_by_node(allocations),
    )
    pieces: Pieces = [b'{"Nodes":{"metadata":{},"items":[']
    for each in fitting:
        pieces += (memoryview(each), b",")
    if len(pieces) > 1:
        pieces.pop()
    pieces += (b"]},", _ENCODER.encode(rest)[1:])
    return pieces


def simulation_error(kind: ErrorClass, why: str) -> Pieces:
    """Return the answer that a call as a whole could not be answered."""
    return [b'{"Nodes":null,', _ENCODER.encode(_Rest(error=f"{kind}: {why}"))[1:]]


def _by_node(allocations: Iterable[Annotated]) -> msgspec.Raw:
    """Return annotations by node; equal ones are written once, and copied with the names put in."""
    pieces = []
    for each in allocations:
        text, marker = _ENCODER.encode(each.annotations), each.marker.encode()
        pieces += [
            _ENCODER.encode(name) + b":" + text.replace(marker, known_as.encode())
            for name, known_as in each.nodes
        ]
    return msgspec.Raw(b"{" + b",".join(pieces) + b"}")
