"""The search for devices on one node: depth first, in kube-scheduler's order.

Claims are met one after the other, and so are the requests of a claim and the devices of a request.
What cannot go on takes back its last choice and tries the next device. A request for all devices
knows them beforehand; it takes each of them or gives up.
"""

from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from springtide.base.taints import first_untolerated
from springtide.engine.dynamic_resources import capacity
from springtide.engine.dynamic_resources.constraints import Watch, add_all
from springtide.engine.dynamic_resources.counters import Counters
from springtide.engine.dynamic_resources.faults import AllocationFault, SearchTooLong
from springtide.engine.dynamic_resources.matching import Matching
from springtide.engine.dynamic_resources.pools import Candidate, PoolView
from springtide.engine.dynamic_resources.requests import Wanted, WantedClaim
from springtide.model.device_slices import PoolName
from springtide.model.device_usage import DeviceId, PoolUse
from springtide.model.resource_claims import ALL

DEVICES_MAX: Final = 32
"""How many devices one claim may be given."""
STEPS_MAX: Final = 200_000


class Chosen(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """A device that was chosen for a form of a request; `consumed` is None if it is not shared."""

    wanted: Wanted
    candidate: Candidate
    consumed: capacity.Amounts | None = None


Found = tuple[tuple[Chosen, ...], ...]
"""The devices of each claim."""

_Next = Callable[[], bool]


class Search:
    """One search for devices for these claims among these pools."""

    def __init__(
        self,
        claims: Sequence[WantedClaim],
        views: Sequence[PoolView],
        usage: Callable[[PoolName], PoolUse],
        matching: Matching,
    ) -> None:
        self._claims = claims
        self._views = views
        self._matching = matching
        whole = [view for view in views if not view.pool.is_incomplete]
        self._open = [each for view in whole if not view.pool.fault for each in view.devices]
        self._has_invalid_pool = any(view.pool.fault for view in whole)
        self._use = {view.pool.name: usage(view.pool.name) for view in views}
        self._counters: dict[PoolName, Counters] = {}
        self._watches = [[Watch(each) for each in claim.constraints] for claim in claims]
        self._chosen: list[list[Chosen]] = [[] for _ in claims]
        self._users: dict[DeviceId, list[int]] = {}
        self._all: dict[int, list[Candidate]] = {}
        self._selected: dict[tuple[int, DeviceId], bool] = {}
        self._steps = 0
        self.has_met_invalid_pool = False

    def find(self) -> Found | None:
        """Return the devices of each claim, None if there is no solution; or raise a fault."""
        for claim in self._claims:
            self._find_all(claim)
        return tuple(tuple(each) for each in self._chosen) if self._claim(0) else None

    # All devices

    def _find_all(self, claim: WantedClaim) -> None:
        """Find out how many devices the claim is about at least; more than allowed is a fault."""
        count = 0
        for forms in claim.requests:
            counts = [self._count(claim, wanted) for wanted in forms]
            count += min(counts, default=0)
        if count > DEVICES_MAX:
            text = f"number of requested devices {count} exceeds the claim limit of {DEVICES_MAX}"
            raise AllocationFault(f"claim {claim.text}: {text}")

    def _count(self, claim: WantedClaim, wanted: Wanted) -> int:
        if wanted.request.mode != ALL:
            return wanted.request.count
        found: list[Candidate] = []
        for view in self._views:
            self._require_whole(view, claim, wanted)
            for candidate, is_reachable in view.devices:
                if self._selects(claim, wanted, candidate, is_reachable=is_reachable) and (
                    capacity.consumed(candidate.device, wanted.capacity) is not None
                ):
                    found.append(candidate)
        self._all[id(wanted)] = found
        return len(found)

    def _require_whole(self, view: PoolView, claim: WantedClaim, wanted: Wanted) -> None:
        pool = view.pool
        state = "currently being updated" if pool.is_incomplete else "currently invalid"
        if pool.is_incomplete or pool.fault:
            what = f"asks for all devices, but resource pool {pool.name.text} is {state}"
            raise AllocationFault(f"claim {claim.text}, request {_last(wanted.name)}: {what}")

    # Choosing

    def _claim(self, index: int) -> bool:
        return index == len(self._claims) or self._request(index, 0)

    def _request(self, claim: int, index: int) -> bool:
        requests = self._claims[claim].requests
        if index == len(requests):
            return self._claim(claim + 1)
        return any(self._form(claim, index, wanted) for wanted in requests[index])

    def _form(self, claim: int, index: int, wanted: Wanted) -> bool:
        def go_on() -> bool:
            return self._request(claim, index + 1)

        if wanted.request.mode == ALL:
            devices = self._all[id(wanted)]
            return bool(devices) and self._take_all(claim, wanted, devices, go_on)
        return self._take_some(claim, wanted, 0, wanted.request.count, go_on)

    def _take_all(
        self, claim: int, wanted: Wanted, devices: Sequence[Candidate], go_on: _Next
    ) -> bool:
        if not devices:
            return go_on()
        if not self._has_place(claim, len(devices)):
            return False
        if not self._take(claim, wanted, devices[0], must=True):
            return False
        if self._take_all(claim, wanted, devices[1:], go_on):
            return True
        self._give_back(claim)
        return False

    def _take_some(
        self, claim: int, wanted: Wanted, start: int, missing: int, go_on: _Next
    ) -> bool:
        """Take so many devices from this one on; the order in which they are taken decides nothing."""
        if not missing:
            return go_on()
        if not self._has_place(claim, missing):
            return False
        self.has_met_invalid_pool |= self._has_invalid_pool
        left = self._left(wanted, start)
        for index in range(start, len(self._open)):
            candidate, is_reachable = self._open[index]
            is_enough = left >= missing
            left -= self._selected.get((id(wanted), candidate.id), True)
            # Where too few devices are left, selectors are judged all the same: they may fault.
            if not self._may_take(claim, wanted, candidate, is_reachable=is_reachable):
                continue
            if not is_enough or not self._take(claim, wanted, candidate, must=False):
                continue
            if self._take_some(claim, wanted, index + 1, missing - 1, go_on):
                return True
            self._give_back(claim)
        return False

    def _left(self, wanted: Wanted, start: int) -> int:
        """Return how many devices from this one on are not known to be of no use."""
        known = self._selected
        return sum(known.get((id(wanted), each.id), True) for each, _ in self._open[start:])

    def _has_place(self, claim: int, count: int) -> bool:
        self._steps += 1
        if self._steps > STEPS_MAX:
            raise SearchTooLong("timed out trying to allocate devices")
        return len(self._chosen[claim]) + count <= DEVICES_MAX

    def _may_take(
        self, claim: int, wanted: Wanted, candidate: Candidate, *, is_reachable: bool
    ) -> bool:
        return not self._is_taken(claim, wanted, candidate) and self._selects(
            self._claims[claim], wanted, candidate, is_reachable=is_reachable
        )

    def _selects(
        self, claim: WantedClaim, wanted: Wanted, candidate: Candidate, *, is_reachable: bool
    ) -> bool:
        key = (id(wanted), candidate.id)
        known = self._selected.get(key)
        if known is None:
            device_class = wanted.device_class
            known = self._selected[key] = (
                self._matching.selects(
                    device_class.selectors, candidate, whose=f"class {device_class.name}"
                )
                and self._matching.selects(
                    wanted.request.selectors, candidate, whose=f"claim {claim.text}"
                )
                and is_reachable
            )
        return known

    def _is_taken(self, claim: int, wanted: Wanted, candidate: Candidate) -> bool:
        users = self._users.get(candidate.id, ())
        if wanted.request.admin_access:
            return claim in users
        if candidate.device.allows_multiple:
            # Other requests may share it, this one wants different devices.
            return any(
                each.candidate is candidate and each.wanted is wanted
                for each in self._chosen[claim]
            )
        in_use = self._use[PoolName(*candidate.id[:2])].in_use
        return bool(users) or candidate.device.name in in_use

    def _take(self, claim: int, wanted: Wanted, candidate: Candidate, *, must: bool) -> bool:
        """Choose a device if nothing is against it; for a request that needs it that is a fault."""
        if self._is_taken(claim, wanted, candidate):
            return False
        amounts = self._amounts(wanted, candidate)
        if amounts is None or not self._counters_of(candidate).allow(candidate):
            return False
        if first_untolerated(candidate.device.taints, wanted.request.tolerations) is not None:
            return False
        if not add_all(self._watches[claim], wanted.name, candidate):
            if must:
                what = f"cannot add device {candidate.text}"
                why = "because a claim constraint would not be satisfied"
                text = self._claims[claim].text
                raise AllocationFault(f"claim {text}, request {_last(wanted.name)}: {what} {why}")
            return False
        self._counters_of(candidate).take(candidate)
        self._users.setdefault(candidate.id, []).append(claim)
        is_shared = candidate.device.allows_multiple
        self._chosen[claim].append(
            Chosen(wanted=wanted, candidate=candidate, consumed=amounts if is_shared else None)
        )
        return True

    def _give_back(self, claim: int) -> None:
        chosen = self._chosen[claim].pop()
        self._users[chosen.candidate.id].pop()
        self._counters_of(chosen.candidate).take(chosen.candidate, sign=-1)
        for watch in self._watches[claim]:
            watch.remove(chosen.wanted.name)

    def _amounts(self, wanted: Wanted, candidate: Candidate) -> capacity.Amounts | None:
        """Return what the request consumes, None if there is not enough."""
        amounts = capacity.consumed(candidate.device, wanted.capacity)
        if amounts is None or not candidate.device.allows_multiple:
            return amounts
        used = dict(self._use[PoolName(*candidate.id[:2])].consumed_of(candidate.device.name))
        for chosen in (each for claim in self._chosen for each in claim):
            if chosen.candidate is candidate and chosen.consumed is not None:
                for name, amount in chosen.consumed.items():
                    used[name] = used.get(name, 0) + amount
        return amounts if capacity.has_room(candidate.device, amounts, used) else None

    def _counters_of(self, candidate: Candidate) -> Counters:
        name = PoolName(*candidate.id[:2])
        known = self._counters.get(name)
        if known is None:
            pool = next(view.pool for view in self._views if view.pool.name == name)
            known = self._counters[name] = Counters(pool, self._use[name])
        return known


def _last(name: str) -> str:
    return name.rpartition("/")[2]
