"""Devices for claims by trying everything, as slow and as plain as the rules read.

This is what the search is compared with. Requests are met one after the other by devices in order,
each of them in every order; whether a choice is allowed is judged anew from all that is chosen.
"""

from collections.abc import Iterator, Mapping, Sequence

from springtide.model.device_slices import OfferedDevice
from springtide.model.resource_claims import (
    ALL,
    ClaimContent,
    DeviceConstraint,
    DeviceRequest,
    Exactly,
    FirstAvailable,
)

Choice = tuple[int, str, DeviceRequest, OfferedDevice]
"""A claim's index, the full name of a request, the request and a device."""
Slot = tuple[int, Exactly | FirstAvailable]


class Unmeetable(Exception):
    """A request for all devices that a constraint parts."""


def first_solution(
    claims: Sequence[ClaimContent],
    devices: Sequence[OfferedDevice],
    used: frozenset[str],
    shared: Mapping[str, int],
) -> list[Choice] | None:
    """Return the first choice of devices for all claims, None if there is none."""
    slots = [(index, request) for index, claim in enumerate(claims) for request in claim.requests]
    world = World(claims, devices, used, shared)
    return next(world.solutions(slots, []), None)


class World:
    """The devices of one pool whose counter set has `shared`, and those of them in use."""

    def __init__(
        self,
        claims: Sequence[ClaimContent],
        devices: Sequence[OfferedDevice],
        used: frozenset[str],
        shared: Mapping[str, int],
    ) -> None:
        self.claims = claims
        self.devices = devices
        self.used = used
        self.shared = shared

    def solutions(self, slots: Sequence[Slot], chosen: list[Choice]) -> Iterator[list[Choice]]:
        """Yield the ways to meet what is left, beside what is chosen."""
        if not slots:
            yield chosen
            return
        (claim, asked), rest = slots[0], slots[1:]
        forms = (
            [(asked.request.name, asked.request)]
            if isinstance(asked, Exactly)
            else [(f"{asked.name}/{each.name}", each) for each in asked.alternatives]
        )
        for name, request in forms:
            for more in self.form(claim, name, request, chosen):
                yield from self.solutions(rest, more)

    def form(
        self, claim: int, name: str, request: DeviceRequest, chosen: list[Choice]
    ) -> Iterator[list[Choice]]:
        """Yield the ways to meet one form of a request."""
        if request.mode != ALL:
            yield from self.picks(claim, name, request, chosen, request.count)
            return
        everything = [device for device in self.devices if selects(request, device)]
        for device in everything:
            if not self.is_free(claim, request, device, chosen) or not self.counts(device, chosen):
                return
            chosen = [*chosen, (claim, name, request, device)]
            if not self.meets(claim, chosen):
                raise Unmeetable
        if everything:
            yield chosen

    def picks(
        self, claim: int, name: str, request: DeviceRequest, chosen: list[Choice], count: int
    ) -> Iterator[list[Choice]]:
        """Yield the ways to pick so many more devices."""
        if not count:
            yield chosen
            return
        for device in self.devices:
            if not selects(request, device) or not self.is_free(claim, request, device, chosen):
                continue
            more = [*chosen, (claim, name, request, device)]
            if self.counts(device, chosen) and self.meets(claim, more):
                yield from self.picks(claim, name, request, more, count - 1)

    def is_free(
        self, claim: int, request: DeviceRequest, device: OfferedDevice, chosen: Sequence[Choice]
    ) -> bool:
        """Return whether nobody has the device, or it does not matter."""
        users = [index for index, _, _, other in chosen if other is device]
        if request.admin_access:
            return claim not in users
        return not users and device.name not in self.used

    def counts(self, device: OfferedDevice, chosen: Sequence[Choice]) -> bool:
        """Return whether the counters last for one more device."""
        left = dict(self.shared)
        for each in self.devices:
            if each.name in self.used:
                take(left, each)
        if any(amount < 0 for amount in left.values()):
            return False
        for _, _, _, each in chosen:
            take(left, each)
        take(left, device)
        return not device.consumes or all(amount >= 0 for amount in left.values())

    def meets(self, claim: int, chosen: Sequence[Choice]) -> bool:
        """Return whether the constraints of a claim hold."""
        own = [choice for choice in chosen if choice[0] == claim]
        return all(holds(each, own) for each in self.claims[claim].constraints)


def selects(request: DeviceRequest, device: OfferedDevice) -> bool:
    """Return whether the device has the attribute values that selectors of tests ask for."""
    values = {name.partition("/")[2]: str(value) for name, value in device.attributes}
    return all(
        values[each.partition("=")[0]] == each.partition("=")[2] for each in request.selectors
    )


def take(left: dict[str, int], device: OfferedDevice) -> None:
    """Take what the device consumes off the counters."""
    for use in device.consumes:
        for name, amount in use.counters:
            left[name] -= amount.value()


def holds(constraint: DeviceConstraint, chosen: Sequence[Choice]) -> bool:
    """Return whether the constraint holds among devices of the requests that it names."""
    names = constraint.requests
    values = [
        dict(device.attributes).get(constraint.attribute)
        for _, name, _, device in chosen
        if not names or name in names or name.partition("/")[0] in names
    ]
    if None in values:
        return False
    return len(set(values)) == (len(values) if constraint.is_distinct else min(len(values), 1))
