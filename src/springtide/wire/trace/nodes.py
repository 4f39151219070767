"""The machines of a trace: `sn,cpu_milli,memory_mib,gpu,model`."""

from typing import Final

from springtide.model.trace import TraceNode
from springtide.wire.trace.naming import Names
from springtide.wire.trace.table import Row, rows

GPUS_MAX: Final = 64
_COLUMNS: Final = ("sn", "cpu_milli", "memory_mib", "gpu", "model")


def read_nodes(data: bytes, *, source: str) -> tuple[TraceNode, ...]:
    """Return the machines in the order of the file, or raise a DocumentFault."""
    names = Names("sn")
    return tuple(_node(row, names) for row in rows(data, source=source, required=_COLUMNS))


def _node(row: Row, names: Names) -> TraceNode:
    return TraceNode(
        name=names.taken(row),
        cpu_milli=row.amount("cpu_milli"),
        memory_mib=row.amount("memory_mib"),
        gpus=row.amount("gpu", at_most=GPUS_MAX),
        model=row.text("model"),
    )
