"""Typical pods: the commonest asks of a pod list, which fragmentation is measured against.

Pods are counted by what they ask of CPU and GPUs and by the models they take, as these stand in the list.
The commonest come first (of equal ones the larger CPU, then the larger part of a GPU, then more GPUs); as
many are kept as it takes to cover 95 % of all pods. Clones do not count, memory plays no part.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final

import msgspec

from springtide.model.trace import TracePod

COVERED_PCT: Final = 95


class TypicalPod(msgspec.Struct, frozen=True, kw_only=True):
    """One ask and its share of all that are typical; shares add up to 1."""

    cpu_milli: int
    gpus: int
    gpu_milli: int
    models: tuple[str, ...]
    share: float


def typical_pods(pods: Sequence[TracePod]) -> tuple[TypicalPod, ...]:
    """Return the typical pods of a list, the commonest first."""
    counts = Counter((pod.cpu_milli, pod.gpu_milli, pod.gpus, pod.models) for pod in pods)
    ordered = sorted(counts.items(), key=lambda item: (-item[1], *_larger_first(item[0])))
    kept, covered = 0, 0
    while covered * 100 < COVERED_PCT * len(pods):
        covered += ordered[kept][1]
        kept += 1
    return tuple(
        TypicalPod(
            cpu_milli=cpu_milli,
            gpus=gpus,
            gpu_milli=gpu_milli,
            models=models,
            share=count / covered,
        )
        for (cpu_milli, gpu_milli, gpus, models), count in ordered[:kept]
    )


def _larger_first(
    ask: tuple[int, int, int, tuple[str, ...]],
) -> tuple[int, int, int, tuple[str, ...]]:
    cpu_milli, gpu_milli, gpus, models = ask
    return -cpu_milli, -gpu_milli, -gpus, models
