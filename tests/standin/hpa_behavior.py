"""How an autoscaler of Kubernetes restrains itself: windows, policies, and what it remembers for them.

What it remembers is gone when its program is started again. An entry counts if it is younger than its
window, not if it is just as old.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Final, Literal

import msgspec

from tests.standin.hpa_maths import INT32_MAX

DOWN_WINDOW_S: Final = 300.0
ENTRIES_MAX: Final = 10_000

Entry = tuple[float, int]
"""When, and how many replicas."""


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """So many replicas, or so much of them, in a period."""

    kind: Literal["Pods", "Percent"]
    value: int
    period_s: float = 15.0


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """What restrains one direction."""

    window_s: float
    select: Literal["Max", "Min", "Disabled"] = "Max"
    policies: tuple[Policy, ...]


UP: Final = Rules(
    window_s=0.0, policies=(Policy(kind="Pods", value=4), Policy(kind="Percent", value=100))
)
DOWN: Final = Rules(window_s=DOWN_WINDOW_S, policies=(Policy(kind="Percent", value=100),))


class Behavior(msgspec.Struct, frozen=True, kw_only=True):
    """What restrains both directions; what is left out is as the API server fills it in."""

    up: Rules = UP
    down: Rules = DOWN


class Memory(msgspec.Struct, frozen=True, kw_only=True):
    """What is remembered of one autoscaler: what was proposed, and what was added and removed."""

    proposed: tuple[Entry, ...] = ()
    added: tuple[Entry, ...] = ()
    removed: tuple[Entry, ...] = ()


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """The least and the most replicas."""

    least: int
    most: int


Restrained = tuple[int, str]
"""A number of replicas, and by what it was held, empty if by nothing."""


def noted(memory: Memory, replicas: int, *, now_s: float) -> Memory:
    """Return the memory with one more proposal."""
    kept = (*memory.proposed, (now_s, replicas))[-ENTRIES_MAX:]
    return msgspec.structs.replace(memory, proposed=kept)


def scaled(memory: Memory, change: int, *, now_s: float) -> Memory:
    """Return the memory after replicas were added or removed."""
    if change > 0:
        kept = (*memory.added, (now_s, change))[-ENTRIES_MAX:]
        return msgspec.structs.replace(memory, added=kept)
    kept = (*memory.removed, (now_s, -change))[-ENTRIES_MAX:]
    return msgspec.structs.replace(memory, removed=kept)


def steadied(
    memory: Memory, replicas: int, *, wanted: int, behavior: Behavior, now_s: float
) -> int:
    """Return what the windows leave of a proposal: the least going up, the most going down."""
    up = min([replicas, *_since(memory.proposed, now_s - behavior.up.window_s)])
    down = highest(memory, replicas, window_s=behavior.down.window_s, now_s=now_s)
    return min(max(wanted, up), down)


def highest(memory: Memory, replicas: int, *, window_s: float, now_s: float) -> int:
    """Return the most that was proposed within a window, this proposal included."""
    return max([replicas, *_since(memory.proposed, now_s - window_s)])


def limited(
    memory: Memory,
    replicas: int,
    *,
    wanted: int,
    behavior: Behavior,
    bounds: Bounds,
    now_s: float,
) -> Restrained:
    """Return what policies and bounds leave of a proposal."""
    if replicas > wanted:
        limit = max(wanted, _up_limit(behavior.up, memory, wanted=wanted, now_s=now_s))
        reason = "ScaleUpLimit" if limit < bounds.most else "TooManyReplicas"
        most = min(limit, bounds.most)
        return (most, reason) if replicas > most else (replicas, "")
    if replicas < wanted:
        limit = min(wanted, _down_limit(behavior.down, memory, wanted=wanted, now_s=now_s))
        reason = "ScaleDownLimit" if limit > bounds.least else "TooFewReplicas"
        least = max(limit, bounds.least)
        return (least, reason) if replicas < least else (replicas, "")
    return replicas, ""


def unrestrained(replicas: int, *, wanted: int, bounds: Bounds) -> Restrained:
    """Return what is left of a proposal where no behavior is written: it may double, or grow to four."""
    growth = max(2 * wanted, 4)
    if replicas > min(growth, bounds.most):
        is_growth = growth < bounds.most
        return min(growth, bounds.most), "ScaleUpLimit" if is_growth else "TooManyReplicas"
    return (bounds.least, "TooFewReplicas") if replicas < bounds.least else (replicas, "")


def _up_limit(rules: Rules, memory: Memory, *, wanted: int, now_s: float) -> int:
    if rules.select == "Disabled":
        return wanted
    limits = [
        start + each.value if each.kind == "Pods" else math.ceil(start * (1 + each.value / 100))
        for each, start in _starts(rules, memory, wanted, now_s)
    ]
    return min((max if rules.select == "Max" else min)(limits), INT32_MAX)


def _down_limit(rules: Rules, memory: Memory, *, wanted: int, now_s: float) -> int:
    if rules.select == "Disabled":
        return wanted
    limits = [
        start - each.value if each.kind == "Pods" else int(start * (1 - each.value / 100))
        for each, start in _starts(rules, memory, wanted, now_s)
    ]
    return (min if rules.select == "Max" else max)(limits)


def _starts(
    rules: Rules, memory: Memory, wanted: int, now_s: float
) -> Iterable[tuple[Policy, int]]:
    """Return each policy with the replicas at the start of its period."""
    for each in rules.policies:
        since_s = now_s - each.period_s
        added, removed = sum(_since(memory.added, since_s)), sum(_since(memory.removed, since_s))
        yield each, wanted - added + removed


def _since(entries: Sequence[Entry], since_s: float) -> list[int]:
    return [number for when_s, number in entries if when_s > since_s]
