"""What one node says to the claims of one pod, found once for nodes that offer the same.

Two nodes offer the same if they see equal devices in equal order, of which the same ones are in use.
The answer of the first stands for all of them; only faults, which name a device, do not.
"""

from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from springtide.engine.dynamic_resources.faults import AllocationFault, SearchTooLong
from springtide.engine.dynamic_resources.matching import Matching
from springtide.engine.dynamic_resources.pools import PoolView
from springtide.engine.dynamic_resources.requests import WantedClaim
from springtide.engine.dynamic_resources.results import score
from springtide.engine.dynamic_resources.search import Found, Search
from springtide.engine.dynamic_resources.supply import Offer
from springtide.model.device_slices import PoolName
from springtide.model.device_usage import PoolUse

CANNOT_ALLOCATE: Final = "cannot allocate all claims"
INVALID_POOLS: Final = "invalid resource pools were encountered"
ANSWERS_MAX: Final = 4096

UsageOf = Callable[[PoolName], PoolUse]


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the claims can be met: `reason` is empty if so. A fault ends the whole attempt."""

    reason: str = ""
    is_fault: bool = False
    score: int = 0


MET: Final = Answer()


class Judge:
    """The answers of nodes to one set of claims."""

    def __init__(self, claims: Sequence[WantedClaim], matching: Matching) -> None:
        self._claims = claims
        self._matching = matching
        self._answers: dict[tuple[int, tuple[PoolUse, ...]], Answer] = {}

    def answer(self, offer: Offer, usage: UsageOf) -> Answer:
        """Return what a node answers that offers this."""
        if not self._claims:
            return MET
        key = (offer.content, tuple(usage(each.pool.name) for each in offer.views))
        known = self._answers.get(key)
        if known is None:
            known = self._search(offer.views, usage)
            if known.is_fault:
                return known
            if len(self._answers) >= ANSWERS_MAX:
                self._answers.clear()
            self._answers[key] = known
        return known

    def found(self, offer: Offer, usage: UsageOf) -> Found | None:
        """Return the devices on a node that offers this, None if it refuses."""
        try:
            return Search(self._claims, offer.views, usage, self._matching).find()
        except (AllocationFault, SearchTooLong):
            return None

    def _search(self, views: Sequence[PoolView], usage: UsageOf) -> Answer:
        search = Search(self._claims, views, usage, self._matching)
        try:
            found = search.find()
        except AllocationFault as fault:
            return Answer(reason=str(fault), is_fault=True)
        except SearchTooLong as fault:
            return Answer(reason=str(fault))
        if found is not None:
            return Answer(score=score(found))
        return Answer(reason=INVALID_POOLS if search.has_met_invalid_pool else CANNOT_ALLOCATE)
