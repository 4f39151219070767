"""Who comes in which order, and how nodes rank: drawn from a seed, or as recorded.

A seed decides three things, each by a stream of its own (`chance`), over names in sorted order so that
the order of the file plays no part: the order of pods; how their number is tuned to a share of the
cluster's GPUs (`tuning`); and the rank of nodes, the lowest of which wins among equals.
"""

from collections.abc import Iterable, Sequence
from operator import attrgetter

import msgspec
import numpy as np

from springtide.engine.trace.chance import Chance, Stream
from springtide.engine.trace.errors import UnusableTrace
from springtide.engine.trace.run import Capacity, capacity_of
from springtide.engine.trace.tuning import tuned
from springtide.engine.trace.typical import TypicalPod, typical_pods
from springtide.model.columns import Bool, Int32
from springtide.model.trace import TraceNode, TracePod

_NAME = attrgetter("name")


class Workload(msgspec.Struct, frozen=True, kw_only=True):
    """All that a replay starts from.

    `nodes` stand in the order of their ranks, `pods` are the list in the order of names. `arrivals`
    are indices of `pods`, with `is_clone` beside them.
    """

    nodes: tuple[TraceNode, ...]
    pods: tuple[TracePod, ...]
    arrivals: Int32
    is_clone: Bool
    typical: tuple[TypicalPod, ...]
    capacity: Capacity


def seeded(
    nodes: Sequence[TraceNode], pods: Sequence[TracePod], *, seed: int, tune: float
) -> Workload:
    """Return the workload of a seed, tuned to this share of the GPUs; 0 leaves the list as it is."""
    pods = sorted(pods, key=_NAME)
    ranked = sorted(nodes, key=_NAME)
    Chance(seed, Stream.RANKS).shuffle(ranked)
    capacity = _capacity(ranked)
    order = list(range(len(pods)))
    Chance(seed, Stream.ORDER).shuffle(order)
    target_milli = tune * capacity.gpu_milli
    arrivals = tuned(order, pods, target_milli=target_milli, chance=Chance(seed, Stream.TUNING))
    is_clone = np.arange(len(arrivals)) >= len(pods)
    return _workload(ranked, pods, arrivals=arrivals, is_clone=is_clone.tolist())


def recorded(
    nodes: Sequence[TraceNode],
    pods: Sequence[TracePod],
    *,
    arrivals: Iterable[tuple[str, bool]],
    ranks: Sequence[str],
) -> Workload:
    """Return the workload of a recording: names of pods, whether they are clones, names of nodes."""
    pods = sorted(pods, key=_NAME)
    by_name = {node.name: node for node in nodes}
    if unmatched := by_name.keys() ^ set(ranks):
        name = min(unmatched)
        side = "nodes" if name in by_name else "ranks"
        raise UnusableTrace(
            f"{name} is only in the list of {side}; give the list of nodes of the recording."
        )
    indices = {pod.name: index for index, pod in enumerate(pods)}
    named = list(arrivals)
    if unknown := next((name for name, _ in named if name not in indices), None):
        raise UnusableTrace(
            f"{unknown} comes in the recording but is not in the list of pods;"
            " give the list of pods of the recording."
        )
    return _workload(
        [by_name[name] for name in ranks],
        pods,
        arrivals=[indices[name] for name, _ in named],
        is_clone=[is_clone for _, is_clone in named],
    )


def _workload(
    nodes: Sequence[TraceNode],
    pods: Sequence[TracePod],
    *,
    arrivals: Sequence[int],
    is_clone: Sequence[bool],
) -> Workload:
    return Workload(
        nodes=tuple(nodes),
        pods=tuple(pods),
        arrivals=np.array(arrivals, np.int32),
        is_clone=np.array(is_clone, np.bool_),
        typical=typical_pods(pods),
        capacity=_capacity(nodes),
    )


def _capacity(nodes: Sequence[TraceNode]) -> Capacity:
    capacity = capacity_of(tuple(nodes))
    if not capacity.gpus:
        raise UnusableTrace("The nodes have no GPU, and shares of GPUs are measured; add nodes.")
    return capacity
