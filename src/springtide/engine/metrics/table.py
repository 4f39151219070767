"""The samples of all workloads, each found at once.

A table is made of one answer for all of them, in steps, so that others have their turn while it is made.
"""

from collections.abc import Generator, Sequence
from typing import Final

import msgspec

from springtide.engine.metrics.records import Metric, Sample

STEP_SAMPLES: Final = 1000

Place = tuple[str, ...]
EMPTY: Final[tuple[Sample, ...]] = ()


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """The samples by place, when they were looked at by the clock of whoever has them (`unix_s`) and by ours
    (`seen_s`), and by which names; `is_partial` says that some may be missing."""

    samples: dict[Place, list[Sample]]
    names: tuple[str, ...]
    unix_s: float
    seen_s: float
    is_partial: bool = False

    @property
    def is_clear(self) -> bool:
        """Return whether there is one name at the most."""
        return len(self.names) <= 1


def steps_to_table(
    metric: Metric,
    samples: Sequence[Sample],
    *,
    names: tuple[str, ...],
    unix_s: float,
    seen_s: float,
    is_partial: bool,
) -> Generator[None, None, Table]:
    """Make a table, and yield after so many samples."""
    keys = metric.place_labels
    placed: dict[Place, list[Sample]] = {}
    for begun in range(0, len(samples), STEP_SAMPLES):
        for sample in samples[begun : begun + STEP_SAMPLES]:
            place = tuple(sample.labels.get(key, "") for key in keys)
            placed.setdefault(place, []).append(sample)
        yield
    return Table(samples=placed, names=names, unix_s=unix_s, seen_s=seen_s, is_partial=is_partial)
