"""Shapes: what a pod asks of a node, without its name. Pods of one shape get the same verdicts."""

from typing import Final

import msgspec

from springtide.model.trace import GPU_MILLI, TracePod

CPU_KIND: Final = "cpu"
FRACTIONAL_KIND: Final = "fractional"
KINDS: Final = (CPU_KIND, FRACTIONAL_KIND, "1", "2", "4", "8")
"""The kinds of pods that public tables count; a pod of another number of GPUs is a kind too."""


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """One ask: nothing of a GPU, a part of one, or `gpus` whole ones, of these models or of any."""

    cpu_milli: int
    memory_mib: int
    gpus: int
    gpu_milli: int
    models: tuple[str, ...] = ()

    @property
    def total_milli(self) -> int:
        """Return what is asked of all GPUs together."""
        return self.gpus * self.gpu_milli

    @property
    def is_fractional(self) -> bool:
        """Return whether a part of one GPU is asked."""
        return 0 < self.gpu_milli < GPU_MILLI

    @property
    def kind(self) -> str:
        """Return what the pod is counted as."""
        if not self.gpus:
            return CPU_KIND
        return FRACTIONAL_KIND if self.is_fractional else str(self.gpus)


def shape_of(pod: TracePod) -> Shape:
    """Return what a pod asks for."""
    return Shape(
        cpu_milli=pod.cpu_milli,
        memory_mib=pod.memory_mib,
        gpus=pod.gpus,
        gpu_milli=pod.gpu_milli,
        models=pod.models,
    )
