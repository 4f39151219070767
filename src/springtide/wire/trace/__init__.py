"""The CSV files of the public GPU trace `openb`, and of others in its format: bytes to records.

`nodes` reads machines, `pods` reads pods, `golden` the recorded order, ranks and placements of a
replay. `table` is the one reader of CSV below them. A fault names file, line and column and says what
to do; a file is read whole or not at all.
"""

from springtide.model.trace import TraceNode, TracePod
from springtide.wire.trace.golden import (
    TraceArrival,
    TracePlacement,
    read_arrivals,
    read_placements,
    read_ranks,
)
from springtide.wire.trace.nodes import read_nodes
from springtide.wire.trace.pods import read_pods

__all__ = [
    "TraceArrival",
    "TraceNode",
    "TracePlacement",
    "TracePod",
    "read_arrivals",
    "read_nodes",
    "read_placements",
    "read_pods",
    "read_ranks",
]
