"""What published policies share: the highest score wins, and parts of GPUs go where they fit best."""

from collections.abc import Sequence
from typing import Final

from springtide.engine.trace.policy import Setting
from springtide.engine.trace.shape import Shape
from springtide.engine.trace.state import State
from springtide.model.columns import Float64
from springtide.model.trace import GPU_MILLI

CPU_MILLI_MAX: Final = 128_000
GPUS_MILLI_MAX: Final = 8_000
"""The largest node of the public trace, by which published scores divide on any cluster."""


class HighestScore:
    """A policy whose highest score wins, and the lowest rank among equals."""

    def __init__(self, setting: Setting) -> None:
        self.state = setting.state

    def chosen(self, scores: Float64) -> int:
        """Return the first row of the highest score."""
        return int(scores.argmax())

    def devices(self, shape: Shape, row: int) -> tuple[int, ...]:
        """Return whole GPUs, or the one whose free part is the smallest that suffices."""
        return best_fit(shape, self.state.gpus_free[row])

    def moved(self, row: int) -> None:
        """Pay no heed: scores are worked out from the state."""


def best_fit(shape: Shape, free: Sequence[int]) -> tuple[int, ...]:
    """Return the GPUs of a node by best fit, the lowest index among equals."""
    if not shape.gpus:
        return ()
    if shape.is_fractional:
        least = min(milli for milli in free if milli >= shape.gpu_milli)
        return (free.index(least),)
    return idle_gpus(shape, free)


def idle_gpus(shape: Shape, free: Sequence[int]) -> tuple[int, ...]:
    """Return as many wholly idle GPUs as are asked for, the lowest indices first."""
    idle = [index for index, milli in enumerate(free) if milli == GPU_MILLI]
    return tuple(idle[: shape.gpus])


def gpus_asked(shape: Shape, state: State, row: int) -> list[int]:
    """Return what is free of the GPUs that a pod would take, the fullest first."""
    free = sorted(milli for milli in state.gpus_free[row] if milli >= shape.gpu_milli)
    return free[: shape.gpus]
