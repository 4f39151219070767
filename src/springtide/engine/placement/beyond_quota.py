"""Whether it is only a quota that keeps a pod from its place, and how much more it would take.

The pod is asked about as if its namespace had no quota; of the rows that take it then the one counts on
which it takes the least, since parts of cards are more on larger ones.
"""

from springtide.engine.placement.classes import PodClass, without_quota
from springtide.engine.placement.placing import Placement
from springtide.engine.placement.quota import (
    Shortage,
    is_refused_by_quota,
    numbers,
    shortages,
)
from springtide.engine.placement.tables import Tables
from springtide.model.refusal import Refusal
from springtide.model.resources import AmountList


def lacking(pod_class: PodClass, tables: Tables) -> tuple[Shortage, ...]:
    """Return what the quota lacks for one more pod, empty if it does not or if nothing else fits."""
    found = cheapest(pod_class, tables)
    return () if found is None else found[1]


def cheapest(pod_class: PodClass, tables: Tables) -> tuple[int, tuple[Shortage, ...]] | None:
    """Return the row that would take the pod with the smallest quota, and what that one lacks."""
    if not tables.quotas_bind([(pod_class, 1)]):
        return None
    free = without_quota(pod_class)
    quotas, families = tables.ledger.quotas, tables.families
    best: tuple[int, tuple[Shortage, ...]] | None = None
    known: dict[AmountList, tuple[Shortage, ...]] = {}
    for row in tables.candidates(free).tolist():
        placement = tables.place(free, row)
        if not isinstance(placement, Placement):
            continue
        charges = tables.charges(placement.allocations)
        if charges not in known:
            known[charges] = shortages(pod_class.quota, charges, quotas=quotas, families=families)
            if best is None or _missing(known[charges]) < _missing(best[1]):
                best = row, known[charges]
    return best


def with_numbers(detail: str, refusal: Refusal, *, pod_class: PodClass, tables: Tables) -> str:
    """Return the numbers behind a refusal with those of the quota, where it has a part in that."""
    if not pod_class.quota or not is_refused_by_quota(refusal):
        return detail
    ledger, families = tables.ledger, tables.families
    left = numbers(pod_class.asks, pod_class.quota, ledger=ledger, families=families)
    return "; ".join(part for part in (detail, left) if part)


def _missing(short: tuple[Shortage, ...]) -> tuple[int, int]:
    return len(short), sum(each.used + each.asked - each.limit for each in short)
