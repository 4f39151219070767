"""A recorded replay of a trace: in which order pods came, how nodes rank, and where pods went.

`arrivals` are `seq,pod,clone`, `ranks` are `rank,sn`, `placements` have a column a policy whose cells
are `sn`, `sn:0-3` with the GPUs that the pod got, or `-` where it fits nowhere. Rows are numbered from 0
without a gap, so that a file cut off in the middle or joined wrongly is noticed.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from springtide.wire.trace.naming import Names
from springtide.wire.trace.table import Row, rows, shown

_CELL: Final = re.compile(r"(?P<node>[^:]+)(?::(?P<gpus>[0-9]{1,3}(?:-[0-9]{1,3})*))?", re.ASCII)
_NOWHERE: Final = "-"
PLACEMENT_COLUMNS: Final = ("fgd", "bestfit", "gpu_packing", "gpu_clustering", "dotprod")


class TraceArrival(msgspec.Struct, frozen=True, gc=False):
    """One pod that comes: its name in the pod list, and whether it is a clone of that pod."""

    pod: str
    is_clone: bool


class TracePlacement(msgspec.Struct, frozen=True):
    """Where a pod went: the node's name and the indices of its GPUs."""

    node: str
    gpus: tuple[int, ...] = ()


def read_arrivals(data: bytes, *, source: str) -> tuple[TraceArrival, ...]:
    """Return who comes, in order, or raise a DocumentFault."""
    table = rows(data, source=source, required=("seq", "pod", "clone"))
    return tuple(
        TraceArrival(row.named("pod"), bool(row.amount("clone", at_most=1)))
        for row in _numbered(table, "seq")
    )


def read_ranks(data: bytes, *, source: str) -> tuple[str, ...]:
    """Return the names of the nodes, the first among equals first, or raise a DocumentFault."""
    names = Names("sn")
    table = rows(data, source=source, required=("rank", "sn"))
    return tuple(names.taken(row) for row in _numbered(table, "rank"))


def read_placements(data: bytes, *, source: str) -> Mapping[str, tuple[TracePlacement | None, ...]]:
    """Return for each policy of the file where every arrival went, None for nowhere."""
    table = rows(data, source=source, required=("seq",), optional=PLACEMENT_COLUMNS)
    found: dict[str, list[TracePlacement | None]] = {}
    for row in _numbered(table, "seq"):
        for policy in PLACEMENT_COLUMNS:
            if row.has(policy):
                found.setdefault(policy, []).append(_placement(row, policy))
    return {policy: tuple(cells) for policy, cells in found.items()}


def _numbered(table: Iterator[Row], column: str) -> Iterator[Row]:
    for index, row in enumerate(table):
        if row.amount(column) != index:
            reason = f"{row.text(column)} stands where {index} is due; restore the order of rows."
            raise row.fault(column, reason)
        yield row


def _placement(row: Row, policy: str) -> TracePlacement | None:
    cell = row.text(policy)
    if cell == _NOWHERE:
        return None
    matched = _CELL.fullmatch(cell)
    if matched is None:
        reason = f"{shown(cell)} is no placement; write node, node:0-3 or - for nowhere."
        raise row.fault(policy, reason)
    gpus = matched["gpus"]
    return TracePlacement(
        matched["node"], tuple(int(index) for index in gpus.split("-")) if gpus else ()
    )
