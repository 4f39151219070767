"""What one node says to the claims of one pod, found once for nodes that offer the same.

Two nodes offer the same if they see equal devices in equal order, of which the same ones are in use.
The answer of the first stands for all of them; only faults, which name a device, do not.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec

from springtide.engine.dynamic_resources.capacity import Amounts
from springtide.engine.dynamic_resources.choices import Chosen
from springtide.engine.dynamic_resources.faults import AllocationFault, SearchTooLong
from springtide.engine.dynamic_resources.matching import Matching
from springtide.engine.dynamic_resources.pools import PoolView
from springtide.engine.dynamic_resources.requests import Wanted, WantedClaim, words_of
from springtide.engine.dynamic_resources.results import score
from springtide.engine.dynamic_resources.search import Found, Search
from springtide.engine.dynamic_resources.shortfall import shortfall
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


class _Pick(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """A chosen device by its place among those that a node offers."""

    wanted: Wanted
    view: int
    index: int
    consumed: Amounts | None


class _Known(msgspec.Struct, frozen=True, eq=False):
    """An answer, and the devices of each claim if they are met."""

    answer: Answer
    picks: tuple[tuple[_Pick, ...], ...] = ()


class Judge:
    """The answers of nodes to one set of claims."""

    def __init__(self, claims: Sequence[WantedClaim], matching: Matching) -> None:
        self._claims = claims
        self._matching = matching
        self._words = words_of(claims)
        self._known: dict[tuple[int, tuple[PoolUse, ...]], _Known] = {}

    def answer(self, offer: Offer, usage: UsageOf) -> Answer:
        """Return what a node answers that offers this."""
        return self._ask(offer, usage).answer if self._claims else MET

    def found(self, offer: Offer, usage: UsageOf) -> Found | None:
        """Return the devices on a node that offers this, None if it refuses."""
        known = self._ask(offer, usage)
        if known.answer.reason:
            return None
        return tuple(tuple(_chosen(pick, offer) for pick in claim) for claim in known.picks)

    def shortfall(self, offer: Offer, usage: UsageOf) -> str:
        """Return which request a node cannot meet that offers this and refuses."""
        return shortfall(self._claims, offer.views, usage, self._matching)

    def _ask(self, offer: Offer, usage: UsageOf) -> _Known:
        key = (offer.content(self._words), tuple(usage(each.pool.name) for each in offer.views))
        known = self._known.get(key)
        if known is None:
            known = self._search(offer.views, usage)
            if known.answer.is_fault:
                return known
            if len(self._known) >= ANSWERS_MAX:
                self._known.clear()
            self._known[key] = known
        return known

    def _search(self, views: Sequence[PoolView], usage: UsageOf) -> _Known:
        search = Search(self._claims, views, usage, self._matching)
        try:
            found = search.find()
        except AllocationFault as fault:
            return _Known(Answer(reason=str(fault), is_fault=True))
        except SearchTooLong as fault:
            return _Known(Answer(reason=str(fault)))
        if found is not None:
            return _Known(Answer(score=score(found)), _picks(found, views))
        reason = INVALID_POOLS if search.has_met_invalid_pool else CANNOT_ALLOCATE
        return _Known(Answer(reason=reason))


def _picks(found: Found, views: Sequence[PoolView]) -> tuple[tuple[_Pick, ...], ...]:
    places = {
        id(candidate): (view, index)
        for view, seen in enumerate(views)
        for index, (candidate, _) in enumerate(seen.devices)
    }
    return tuple(tuple(_pick(each, places) for each in claim) for claim in found)


def _pick(chosen: Chosen, places: Mapping[int, tuple[int, int]]) -> _Pick:
    view, index = places[id(chosen.candidate)]
    return _Pick(wanted=chosen.wanted, view=view, index=index, consumed=chosen.consumed)


def _chosen(pick: _Pick, offer: Offer) -> Chosen:
    candidate, _ = offer.views[pick.view].devices[pick.index]
    return Chosen(wanted=pick.wanted, candidate=candidate, consumed=pick.consumed)
