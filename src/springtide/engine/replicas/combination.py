"""What all metrics together ask for: one number of replicas each way, or none.

Growing needs one metric that is known; shrinking needs all that are required to be known. So an
unknown metric never lowers anything. Demand to grow wins: nobody shrinks below what another metric
needs.
"""

from collections.abc import Iterable
from decimal import Decimal

import msgspec

from springtide.engine.replicas.suggestion import suggest, suggest_truncated


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """One metric as an evaluation takes it: a value may be known for one direction alone."""

    policy: str
    up_total: Decimal | None = None
    down_total: Decimal | None = None
    up_per_replica: int = 0
    down_per_replica: int = 0
    is_required: bool = True


class Wish(msgspec.Struct, frozen=True):
    """Replicas that one metric asks for."""

    policy: str
    replicas: int


class Suggestion(msgspec.Struct, frozen=True):
    """At least so many are needed, and so few would do; None where nobody can tell."""

    up: int | None = None
    down: int | None = None


def combine(readings: Iterable[Reading], *, is_truncated: bool = False) -> Suggestion:
    """Return what the metrics ask for together."""
    listed = tuple(readings)
    up = up_wishes(listed, is_truncated=is_truncated)
    down = down_wishes(listed, is_truncated=is_truncated)
    return joined((each.replicas for each in up), (each.replicas for each in down or ()))


def joined(up: Iterable[int], down: Iterable[int]) -> Suggestion:
    """Return the largest each way; none, or zero, is unknown."""
    return Suggestion(max(up, default=0) or None, max(down, default=0) or None)


def up_wishes(readings: Iterable[Reading], *, is_truncated: bool = False) -> tuple[Wish, ...]:
    """Return what each metric that is known to grow by asks for."""
    formula = suggest_truncated if is_truncated else suggest
    return tuple(
        Wish(each.policy, formula(each.up_total, each.up_per_replica))
        for each in readings
        if each.up_per_replica > 0 and each.up_total is not None
    )


def down_wishes(
    readings: Iterable[Reading], *, is_truncated: bool = False
) -> tuple[Wish, ...] | None:
    """Return what each metric asks for that may shrink; None where a required one is unknown."""
    listed = tuple(readings)
    return known_down_wishes(listed, is_truncated=is_truncated) if may_shrink(listed) else None


def may_shrink(readings: Iterable[Reading]) -> bool:
    """Return whether every metric is known that has to be for that."""
    return all(
        each.down_total is not None
        for each in readings
        if each.is_required and each.down_per_replica > 0
    )


def known_down_wishes(
    readings: Iterable[Reading], *, is_truncated: bool = False
) -> tuple[Wish, ...]:
    """Return what each metric asks for that is known to shrink by."""
    formula = suggest_truncated if is_truncated else suggest
    return tuple(
        Wish(each.policy, formula(each.down_total, each.down_per_replica))
        for each in readings
        if each.down_per_replica > 0 and each.down_total is not None
    )


def lifted(suggestion: Suggestion) -> Suggestion:
    """Return the suggestion whose way down stops at what is needed to carry the load."""
    up, down = suggestion.up, suggestion.down
    if up is None or down is None:
        return suggestion
    return Suggestion(up, max(up, down))


def chosen(suggestion: Suggestion, expect: int) -> int:
    """Return the number asked for: between the two thresholds, and without knowledge, it stays."""
    if suggestion.up is not None and suggestion.up > expect:
        return suggestion.up
    if suggestion.down is not None and suggestion.down < expect:
        return suggestion.down
    return expect
