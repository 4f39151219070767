"""Typical pods: the commonest asks of a pod list, which fragmentation is measured against.

Pods are counted by what they ask of CPU and GPUs and by the models they take, as these stand in the list.
The commonest come first; of equal ones the larger CPU, then the larger part of a GPU, then more GPUs,
then the later text of models. As many are kept as it takes to cover 95 % of all pods. Clones do not
count, memory plays no part. Order and arithmetic are those of the published experiments to the last
digit, because some scores hang on it.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final

import msgspec

from springtide.model.trace import TracePod

COVERED_PCT: Final = 95

_Ask = tuple[int, int, int, tuple[str, ...]]


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
    ordered = sorted(counts.items(), key=_rank, reverse=True)
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
            # Not count / covered, whose last digit differs.
            share=(count / len(pods)) / (covered / len(pods)),
        )
        for (cpu_milli, gpu_milli, gpus, models), count in ordered[:kept]
    )


def _rank(counted: tuple[_Ask, int]) -> tuple[int, int, int, int, str]:
    (cpu_milli, gpu_milli, gpus, models), count = counted
    return count, cpu_milli, gpu_milli, gpus, "|".join(models)
