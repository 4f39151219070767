"""The devices that a search has chosen so far, and whether one more may be.

A device is free unless it is in use, or chosen for another request. Several may share one that allows
it, as long as its capacities last; a request for several devices never gets the same one twice. With
admin access it is no matter whether others use a device.
"""

from collections.abc import Callable, Sequence

import msgspec

from springtide.base.taints import first_untolerated
from springtide.engine.dynamic_resources import capacity
from springtide.engine.dynamic_resources.constraints import Watch, add_all
from springtide.engine.dynamic_resources.counters import Counters
from springtide.engine.dynamic_resources.faults import AllocationFault
from springtide.engine.dynamic_resources.pools import Candidate, PoolView
from springtide.engine.dynamic_resources.requests import Wanted, WantedClaim
from springtide.model.device_slices import PoolName
from springtide.model.device_usage import DeviceId, PoolUse


class Chosen(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """A device that was chosen for a form of a request; `consumed` is None if it is not shared."""

    wanted: Wanted
    candidate: Candidate
    consumed: capacity.Amounts | None = None


class Choices:
    """What is chosen, claim by claim, beside what is in use anyway."""

    def __init__(
        self,
        claims: Sequence[WantedClaim],
        views: Sequence[PoolView],
        usage: Callable[[PoolName], PoolUse],
    ) -> None:
        self._claims = claims
        self._pools = {view.pool.name: view.pool for view in views}
        self._use = {name: usage(name) for name in self._pools}
        self._in_use = {name: use.in_use for name, use in self._use.items()}
        self._counters: dict[PoolName, Counters] = {}
        self._watches = [[Watch(each) for each in claim.constraints] for claim in claims]
        self._users: dict[DeviceId, list[int]] = {}
        self.by_claim: list[list[Chosen]] = [[] for _ in claims]

    def is_free(self, claim: int, wanted: Wanted, candidate: Candidate) -> bool:
        """Return whether the device can be had for this request at all."""
        users = self._users.get(candidate.id, ())
        if wanted.request.admin_access:
            return claim not in users
        if candidate.device.allows_multiple:
            return not any(
                each.candidate is candidate and each.wanted is wanted
                for each in self.by_claim[claim]
            )
        return not users and self.is_open_to(wanted, candidate)

    def is_open_to(self, wanted: Wanted, candidate: Candidate) -> bool:
        """Return whether the request might have the device if nothing else were chosen."""
        may_share = wanted.request.admin_access or candidate.device.allows_multiple
        return may_share or candidate.device.name not in self._in_use[candidate.pool]

    def take(self, claim: int, wanted: Wanted, candidate: Candidate, *, must: bool) -> bool:
        """Choose a device if nothing is against it.

        Where a request must have it, a constraint that is against it is a fault.
        """
        amounts = self._amounts(wanted, candidate)
        if amounts is None or not self._counters_of(candidate).allow(candidate):
            return False
        if first_untolerated(candidate.device.taints, wanted.request.tolerations) is not None:
            return False
        if not add_all(self._watches[claim], wanted.name, candidate):
            if must:
                raise _unmet(self._claims[claim], wanted, candidate)
            return False
        self._counters_of(candidate).take(candidate)
        self._users.setdefault(candidate.id, []).append(claim)
        is_shared = candidate.device.allows_multiple
        consumed = amounts if is_shared else None
        self.by_claim[claim].append(Chosen(wanted=wanted, candidate=candidate, consumed=consumed))
        return True

    def give_back(self, claim: int) -> None:
        """Take back the last choice for a claim."""
        chosen = self.by_claim[claim].pop()
        self._users[chosen.candidate.id].pop()
        self._counters_of(chosen.candidate).take(chosen.candidate, sign=-1)
        for watch in self._watches[claim]:
            watch.remove(chosen.wanted.name)

    def _amounts(self, wanted: Wanted, candidate: Candidate) -> capacity.Amounts | None:
        """Return what the request consumes, None if there is not enough."""
        amounts = capacity.consumed(candidate.device, wanted.capacity)
        if amounts is None or not candidate.device.allows_multiple:
            return amounts
        used = dict(self._use[candidate.pool].consumed_of(candidate.device.name))
        for chosen in (each for claim in self.by_claim for each in claim):
            if chosen.candidate is candidate and chosen.consumed is not None:
                for name, amount in chosen.consumed.items():
                    used[name] = used.get(name, 0) + amount
        return amounts if capacity.has_room(candidate.device, amounts, used) else None

    def _counters_of(self, candidate: Candidate) -> Counters:
        known = self._counters.get(candidate.pool)
        if known is None:
            pool, use = self._pools[candidate.pool], self._use[candidate.pool]
            known = self._counters[candidate.pool] = Counters(pool, use)
        return known


def _unmet(claim: WantedClaim, wanted: Wanted, candidate: Candidate) -> AllocationFault:
    where = f"claim {claim.text}, request {wanted.last_name}"
    why = "because a claim constraint would not be satisfied"
    return AllocationFault(f"{where}: cannot add device {candidate.text} {why}")
