"""Nodes and pods of a recorded cluster, as public traces list them.

They know no labels, no containers and no devices by name: a node has so many GPUs of one model, a pod
asks for so many with so many thousandths of each. `wire.trace` reads them, `engine.trace` replays them.
"""

from typing import Final

import msgspec

GPU_MILLI: Final = 1000
"""A whole GPU."""


class TraceNode(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One machine; `model` is empty where it has no GPU."""

    name: str
    cpu_milli: int
    memory_mib: int
    gpus: int
    model: str


class TracePod(msgspec.Struct, frozen=True, kw_only=True):
    """One pod; `gpu_milli` is of each GPU, and `models` are those it takes, all if there are none.

    Models stand as in the list, which names some twice. Times are seconds from the trace's start.
    """

    name: str
    cpu_milli: int
    memory_mib: int
    gpus: int
    gpu_milli: int
    models: tuple[str, ...] = ()
    created_s: int | None = None
    deleted_s: int | None = None
