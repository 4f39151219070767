"""What keeps a workload from shrinking whatever its load says: sentences, and none if nothing does.

A hold is no unknown metric: the windows go on, and shrinking goes on where it stood as soon as the
last hold is gone. It never keeps a workload from growing, and an operator may force an order past
it.
"""

from collections.abc import Collection
from typing import Final

import msgspec

from springtide.engine.replicas.evaluation import Standing
from springtide.model.replicas.rules import Limits

CLOCK_OFFSET_MS_MAX: Final = 30_000
"""How far our clock may be from others' before nobody is sent away by it."""
NAMED_MAX: Final = 8
"""How many members a sentence names."""


class Held(msgspec.Struct, frozen=True):
    """The number after all holds, and what they say."""

    replicas: int
    words: tuple[str, ...]


def held(replicas: int, standing: Standing, holds: tuple[str, ...], *, limits: Limits) -> Held:
    """Return the number that does not shrink while anything holds it."""
    is_forced = standing.is_forced and standing.ordered is not None
    kept = replicas if is_forced else max(replicas, min(standing.expect, limits.most))
    if not holds or kept == replicas:
        return Held(replicas, holds)
    return Held(kept, (*holds, f"So nothing shrinks, and {kept} stay."))


def gap_holds(live: Collection[int]) -> tuple[str, ...]:
    """Return what is wrong if numbers are missing below the highest member that lives."""
    missing = sorted(set(range(1, max(live, default=0))) - set(live))
    if not missing:
        return ()
    words = f"{_members(missing)} not there, below {max(live)}, which is"
    return (f"{words}: see why before anybody leaves.",)


def clock_holds(offset_ms: int, *, offset_ms_max: int = CLOCK_OFFSET_MS_MAX) -> tuple[str, ...]:
    """Return what is wrong if our clock is too far from others'."""
    if abs(offset_ms) <= offset_ms_max:
        return ()
    return (f"Our clock is {abs(offset_ms) / 1000:g} s from that of others; set it.",)


def listed(numbers: Collection[int]) -> str:
    """Return numbers as people read them, and how many more there are."""
    named = [str(each) for each in sorted(numbers)]
    more = len(named) - NAMED_MAX
    return ", ".join(named[:NAMED_MAX]) + (f" and {more} more" if more > 0 else "")


def _members(numbers: list[int]) -> str:
    return f"Member {numbers[0]} is" if len(numbers) == 1 else f"Members {listed(numbers)} are"
