"""Jobs: one replay each, with all that it needs, so that a worker that shares no files can do it."""

from typing import Final

import msgspec

from springtide.apps.bench.curves import Curve
from springtide.apps.bench.kept import Steps
from springtide.apps.bench.report import RunReport
from springtide.wire.source import Source

REPLAY_SEED: Final = 42
"""What a policy that draws draws from where order and ranks are recorded."""


class Recording(msgspec.Struct, frozen=True, kw_only=True):
    """An order of arrival and ranks of nodes that were recorded."""

    name: str
    arrivals: Source
    ranks: Source


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """Where the order comes from: a seed and the share of GPUs to tune to, or a recording."""

    seed: int = REPLAY_SEED
    tune: float = 0.0
    recording: Recording | None = None

    @property
    def name(self) -> str:
        """Return what the order is called."""
        return f"seed {self.seed}" if self.recording is None else self.recording.name


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What is to come back beside the report."""

    has_steps: bool = False
    has_cells: bool = False
    is_checked: bool = False


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """One policy on one trace in one order; of the repetitions the fastest counts."""

    trace: str
    policy: str
    order: Order
    nodes: Source
    pods: Source
    repeat: int = 1
    wanted: Wanted = Wanted()

    @property
    def name(self) -> str:
        """Return what the job is called."""
        return f"{self.policy} on {self.trace}, {self.order.name}"


class Done(msgspec.Struct, frozen=True, kw_only=True):
    """What a job came to; `violation` is the first thing that does not hold, None if all does."""

    report: RunReport
    curve: Curve
    steps: Steps | None = None
    cells: tuple[str, ...] | None = None
    violation: str | None = None
