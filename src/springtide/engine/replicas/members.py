"""The members of a workload in their order, and the number of each, counted from one.

A pod's number comes of its ordinal (`model.replicas.ordinals`). Elsewhere it is the place in the order of all
by id and name. Whoever is not there has no number, and so never a place.
"""

from collections.abc import Iterable

from springtide.model.replicas.member import Member


def rank(members: Iterable[Member], self_id: int, self_name: str) -> int | None:
    """Return a member's place in the order of all; None if it is not among them."""
    ordered = sorted((each.id, each.name) for each in members)
    found = (place for place, each in enumerate(ordered, start=1) if each == (self_id, self_name))
    return next(found, None)


def numbers(members: Iterable[Member]) -> dict[str, int]:
    """Return the number of every member: its own, or its place in the order of all."""
    ordered = sorted(members, key=lambda each: (each.id, each.name))
    return {
        each.name: place if each.index is None else each.index
        for place, each in enumerate(ordered, start=1)
    }


def first_leader(members: Iterable[Member]) -> Member | None:
    """Return who leads where no lease says it: the first with an ordinal, else the last of all."""
    staying = (each for each in members if not each.is_stopping)
    ordered = sorted(staying, key=lambda each: (each.id, each.name))
    return next((each for each in ordered if each.has_ordinal), ordered[-1] if ordered else None)


def expected(members: Iterable[Member], *, now_ms: int, warmup_ms: int = 60_000) -> int:
    """Return how many members should be seen in metrics by now."""
    return sum(1 for each in members if now_ms - each.started_ms > warmup_ms)


def living(members: Iterable[Member]) -> frozenset[str]:
    """Return the runs that go on, by `boot`; one whose pod is being deleted may still hand over."""
    return frozenset(each.boot for each in members if each.is_alive or each.is_stopping)
