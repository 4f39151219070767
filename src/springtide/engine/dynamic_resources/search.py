"""The search for devices on one node: depth first, in kube-scheduler's order.

Claims are met one after the other, and so are the requests of a claim and the devices of a request.
What cannot go on takes back its last choice and tries the next device. A request for all devices
knows them beforehand; it takes each of them or gives up.

Some things make no difference to what is found, and are left out: trying the devices of one request in
another order, trying where fewer devices are left than a request still needs, and trying anything else
once a request is known to have too few devices whatever is chosen for the others.
"""

from collections.abc import Callable, Sequence
from typing import Final

from springtide.engine.dynamic_resources import capacity
from springtide.engine.dynamic_resources.choices import Choices, Chosen
from springtide.engine.dynamic_resources.faults import AllocationFault, SearchTooLong
from springtide.engine.dynamic_resources.matching import Matching
from springtide.engine.dynamic_resources.pools import Candidate, PoolView
from springtide.engine.dynamic_resources.requests import Wanted, WantedClaim
from springtide.model.device_slices import PoolName
from springtide.model.device_usage import DeviceId, PoolUse
from springtide.model.resource_claims import ALL

DEVICES_MAX: Final = 32
"""How many devices one claim may be given."""
STEPS_MAX: Final = 50_000
DEPTH_MAX: Final = 500
"""How deep a search may nest: a level for each device, and some for each request."""
LEVELS_PER_REQUEST: Final = 6
TOO_LONG: Final = "timed out trying to allocate devices"

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
        self._choices = Choices(claims, views, usage)
        self._all: dict[int, list[Candidate]] = {}
        self._selected: dict[tuple[int, DeviceId], bool] = {}
        self._steps = 0
        self._is_hopeless = False
        self._impossible: dict[int, bool] = {}
        self.has_met_invalid_pool = False

    def find(self) -> Found | None:
        """Return the devices of each claim, None if there is no solution; or raise a fault."""
        depth = sum(self._depth(claim) for claim in self._claims)
        if depth > DEPTH_MAX:
            raise SearchTooLong(TOO_LONG)
        return tuple(map(tuple, self._choices.by_claim)) if self._claim(0) else None

    # Counting

    def _depth(self, claim: WantedClaim) -> int:
        """Return how deep a claim's search may nest, and refuse one for too many devices."""
        counts = [[self._count(claim, wanted) for wanted in forms] for forms in claim.requests]
        least = sum(min(each, default=0) for each in counts)
        if least > DEVICES_MAX:
            text = f"number of requested devices {least} exceeds the claim limit of {DEVICES_MAX}"
            raise AllocationFault(f"claim {claim.text}: {text}")
        most = sum(max(each, default=0) for each in counts)
        return min(most, DEVICES_MAX) + LEVELS_PER_REQUEST * len(counts)

    def _count(self, claim: WantedClaim, wanted: Wanted) -> int:
        if wanted.request.mode != ALL:
            return wanted.request.count
        found: list[Candidate] = []
        for view in self._views:
            _require_whole(view, claim, wanted)
            for candidate, is_reachable in view.devices:
                if self._selects(claim, wanted, candidate, is_reachable=is_reachable) and (
                    capacity.consumed(candidate.device, wanted.capacity) is not None
                ):
                    found.append(candidate)
        self._all[id(wanted)] = found
        return len(found)

    # Choosing

    def _claim(self, index: int) -> bool:
        return index == len(self._claims) or self._request(index, 0)

    def _request(self, claim: int, index: int) -> bool:
        requests = self._claims[claim].requests
        if index == len(requests):
            return self._claim(claim + 1)
        if any(self._form(claim, index, wanted) for wanted in requests[index]):
            return True
        self._is_hopeless |= all(self._is_impossible(claim, each) for each in requests[index])
        return False

    def _is_impossible(self, claim: int, wanted: Wanted) -> bool:
        """Return whether there are too few devices, whatever is chosen for others; or do not know."""
        known = self._impossible.get(id(wanted))
        if known is None:
            known = self._impossible[id(wanted)] = self._has_too_few(claim, wanted)
        return known

    def _has_too_few(self, claim: int, wanted: Wanted) -> bool:
        if wanted.request.mode == ALL:
            return not self._all[id(wanted)]
        asked = self._claims[claim]
        open_to = (each for each in self._open if self._choices.is_open_to(wanted, each[0]))
        try:
            count = sum(self._selects(asked, wanted, each, is_reachable=on) for each, on in open_to)
        except AllocationFault:
            # The search may find a solution before it gets to that device.
            return False
        return count < wanted.request.count

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
        first, rest = devices[0], devices[1:]
        choices = self._choices
        if not self._has_place(claim, len(devices)) or not choices.is_free(claim, wanted, first):
            return False
        if not choices.take(claim, wanted, first, must=True):
            return False
        if self._take_all(claim, wanted, rest, go_on):
            return True
        choices.give_back(claim)
        return False

    def _take_some(
        self, claim: int, wanted: Wanted, start: int, missing: int, go_on: _Next
    ) -> bool:
        """Take so many devices, from this one on."""
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
            # Where it is no use to go on, selectors are judged all the same: they may fault.
            if not self._may_take(claim, wanted, candidate, is_reachable=is_reachable):
                continue
            if self._is_hopeless or not is_enough:
                continue
            if not self._choices.take(claim, wanted, candidate, must=False):
                continue
            if self._take_some(claim, wanted, index + 1, missing - 1, go_on):
                return True
            self._choices.give_back(claim)
        return False

    def _left(self, wanted: Wanted, start: int) -> int:
        """Return how many devices from this one on are not known to be of no use."""
        known = self._selected
        return sum(known.get((id(wanted), each.id), True) for each, _ in self._open[start:])

    def _has_place(self, claim: int, count: int) -> bool:
        self._steps += 1
        if self._steps > STEPS_MAX:
            raise SearchTooLong(TOO_LONG)
        return len(self._choices.by_claim[claim]) + count <= DEVICES_MAX

    def _may_take(
        self, claim: int, wanted: Wanted, candidate: Candidate, *, is_reachable: bool
    ) -> bool:
        return self._choices.is_free(claim, wanted, candidate) and self._selects(
            self._claims[claim], wanted, candidate, is_reachable=is_reachable
        )

    def _selects(
        self, claim: WantedClaim, wanted: Wanted, candidate: Candidate, *, is_reachable: bool
    ) -> bool:
        key = (id(wanted), candidate.id)
        known = self._selected.get(key)
        if known is None:
            name, own = f"class {wanted.device_class.name}", f"claim {claim.text}"
            selects = self._matching.selects
            known = self._selected[key] = (
                selects(wanted.device_class.selectors, candidate, whose=name)
                and selects(wanted.request.selectors, candidate, whose=own)
                and is_reachable
            )
        return known


def _require_whole(view: PoolView, claim: WantedClaim, wanted: Wanted) -> None:
    """Refuse to say what all devices are where a pool does not tell."""
    pool = view.pool
    if pool.is_incomplete or pool.fault:
        state = "currently being updated" if pool.is_incomplete else "currently invalid"
        what = f"asks for all devices, but resource pool {pool.name.text} is {state}"
        raise AllocationFault(f"claim {claim.text}, request {wanted.last_name}: {what}")
