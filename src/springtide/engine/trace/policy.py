"""What a policy is to a replay: it scores nodes that take a pod, and picks GPUs on the chosen one."""

from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec

from springtide.base.clock import Rng
from springtide.engine.trace.fragmentation import Fragmentation
from springtide.engine.trace.shape import Shape
from springtide.engine.trace.state import State
from springtide.model.columns import Float64


class Scores(Protocol):
    """Scores by rows, to be written one by one."""

    def __setitem__(self, row: int, score: float) -> None: ...


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """What a policy may read and draw from while one cluster fills."""

    state: State
    fragmentation: Fragmentation
    rng: Rng


class Placing(Protocol):
    """A policy at work on one cluster."""

    def score(self, shape: Shape, rows: Sequence[int], scores: Scores) -> None:
        """Write what it thinks of these rows, which take the pod; one left out is refused."""
        ...

    def chosen(self, scores: Float64) -> int:
        """Return the row to place on; refused rows have minus infinity, and one has not."""
        ...

    def devices(self, shape: Shape, row: int) -> tuple[int, ...]:
        """Return the indices of the GPUs that the pod gets on this row."""
        ...

    def moved(self, row: int) -> None:
        """Hear that a pod was placed on this row."""
        ...


Policy = Callable[[Setting], Placing]
