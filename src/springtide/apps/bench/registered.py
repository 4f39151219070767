"""A recorded cluster as a live one would show it: nodes with registered cards, pods that ask for them.

A GPU of the trace is a card of 1,000 MiB and 100 cores, so that a thousandth of it is one MiB; a share that
is no whole percent is held by its memory, and its cores are rounded down. Slots never bind. Types are
written so that no model's name is part of another's.
"""

from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from springtide.base.names import CPU, MEMORY, PODS
from springtide.base.quantity import Quantity, of, parse
from springtide.model.node import HOSTNAME_LABEL, Node
from springtide.model.pod import Container, Pod, PodSpec
from springtide.model.resources import Resources
from springtide.model.trace import GPU_MILLI, TraceNode, TracePod

REGISTER: Final = "hami.io/node-nvidia-register"
USE_TYPES: Final = "nvidia.com/use-gputype"
PODS_MAX: Final = 1001
"""Of a node, as in the published experiments."""
MIB: Final = 2**20


def node_of(recorded: TraceNode) -> Node:
    """Return the node with its cards registered, as HAMi's device plugin does."""
    amounts = {
        CPU: _milli(recorded.cpu_milli),
        MEMORY: of(recorded.memory_mib * MIB),
        PODS: of(PODS_MAX),
    }
    cards = [
        {
            "id": f"{recorded.name}-{index}",
            "index": index,
            "count": GPU_MILLI,
            "devmem": GPU_MILLI,
            "devcore": 100,
            "type": _type(recorded.model),
            "mode": "hami-core",
            "health": True,
        }
        for index in range(recorded.gpus)
    ]
    return Node(
        name=recorded.name,
        labels={HOSTNAME_LABEL: recorded.name},
        annotations={REGISTER: msgspec.json.encode(cards).decode()} if cards else {},
        allocatable=tuple(sorted(amounts.items())),
    )


def pods_of(recorded: Sequence[TracePod], arrivals: Sequence[int]) -> list[Pod]:
    """Return one pod an arrival, their numbers as uids; those of one list entry have the same spec."""
    kinds = [kind_of(each) for each in recorded]
    return [numbered(kinds[index], number) for number, index in enumerate(arrivals)]


def kind_of(recorded: TracePod) -> Pod:
    """Return what all pods of a list entry have in common."""
    return Pod(
        namespace="trace",
        name=recorded.name,
        uid="",
        spec=_spec(recorded),
        annotations=_annotations(recorded),
    )


def numbered(kind: Pod, number: int) -> Pod:
    """Return a pod of this kind, with its number as uid."""
    return replace(kind, name=f"{kind.name}-{number}", uid=f"{number}")


def _spec(recorded: TracePod) -> PodSpec:
    limits = _limits(recorded)
    native = ((CPU, _milli(recorded.cpu_milli)), (MEMORY, of(recorded.memory_mib * MIB)))
    container = Container(name="main", requests=tuple(sorted((*native, *limits))), limits=limits)
    return PodSpec(containers=(container,))


def _limits(recorded: TracePod) -> Resources:
    if not recorded.gpus:
        return ()
    return (
        ("nvidia.com/gpu", of(recorded.gpus)),
        ("nvidia.com/gpucores", of(recorded.gpu_milli * 100 // GPU_MILLI)),
        ("nvidia.com/gpumem", of(recorded.gpu_milli)),
    )


def _annotations(recorded: TracePod) -> dict[str, str]:
    if not recorded.models:
        return {}
    return {USE_TYPES: ",".join(_type(model) for model in dict.fromkeys(recorded.models))}


def _type(model: str) -> str:
    return f"NVIDIA-{model}-GPU"


def _milli(amount: int) -> Quantity:
    return parse(f"{amount}m")
