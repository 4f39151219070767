"""What a node registers against what its profile promises, device by device.

Only stable fields count: ids, health and use do not. What a profile does not state is not compared:
scores, networks, and NUMA nodes that are not known.
"""

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Final

import msgspec

from springtide.model.device import Device, Inventory
from springtide.model.profile import FamilyDevices, has_known_numa
from springtide.model.refusal import Refusal

Registered = Mapping[str, Inventory | Refusal]
"""What a node registers, by family."""

USUAL_MODE: Final = "hami-core"
"""What a plugin that registers no mode does."""


class Outcome(StrEnum):
    """How a registration compares."""

    VERIFIED = "Verified"
    EXCEEDS = "Exceeds"
    MISMATCH = "Mismatch"
    MALFORMED = "Malformed"
    UNREGISTERED = "Unregistered"


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """One field that is not as promised; without a position it is about all devices of the family."""

    family: str
    field: str
    position: int | None = None
    promised: str = ""
    found: str = ""

    @property
    def text(self) -> str:
        """Return it as a part of a sentence."""
        one = "devices" if self.position is None else f"device {self.position}"
        if not self.promised and not self.found:
            return f"{self.family} {one}: {self.field} differs"
        return f"{self.family} {one}: {self.field} is {self.found}, {self.promised} promised"


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """What came of it: `differences` are the worst in each field's order, `fault` the parser's words."""

    outcome: Outcome
    differences: tuple[Difference, ...] = ()
    fault: str = ""
    missing: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Return why it is not as promised, as a part of a sentence; empty if it is."""
        if self.fault:
            return self.fault
        if self.missing:
            return f"no devices of {', '.join(self.missing)} are registered"
        if not self.differences:
            return ""
        more = len(self.differences) - 1
        others = f", and {more} more {'differ' if more > 1 else 'differs'}" if more else ""
        return f"{self.differences[0].text}{others}"


def compared(promised: FamilyDevices, registered: Registered) -> Comparison:
    """Return how what a node registers compares with what was promised."""
    fault = next((each.text for each in registered.values() if isinstance(each, Refusal)), "")
    if fault:
        return Comparison(outcome=Outcome.MALFORMED, fault=fault)
    found = {name: each for name, each in registered.items() if isinstance(each, Inventory)}
    worse, better = _differences(promised, found)
    if worse:
        return Comparison(outcome=Outcome.MISMATCH, differences=tuple(worse))
    missing = tuple(family for family, _ in promised if family not in found)
    if missing:
        return Comparison(outcome=Outcome.UNREGISTERED, missing=missing)
    outcome = Outcome.EXCEEDS if better else Outcome.VERIFIED
    return Comparison(outcome=outcome, differences=tuple(better))


def is_same(one: FamilyDevices, other: FamilyDevices) -> bool:
    """Return whether two promises say the same."""
    return dict(one).keys() == dict(other).keys() and all(
        compared(first, {name: Inventory(name, own) for name, own in second}).outcome
        is Outcome.VERIFIED
        for first, second in ((one, other), (other, one))
    )


Differences = list[Difference]


def _differences(
    promised: FamilyDevices, found: Mapping[str, Inventory]
) -> tuple[Differences, Differences]:
    """Return in what the registration is worse or other than promised, and in what better."""
    worse: Differences = []
    better: Differences = []
    for family, devices in promised:
        if family in found:
            own = found[family].devices
            _count(family, len(devices), len(own), worse, better)
            for position, (wanted, there) in enumerate(zip(devices, own, strict=False)):
                _sizes(family, position, (wanted, there), worse, better)
                worse += _others(family, position, (wanted, there), (devices, own))
    described = {family for family, _ in promised}
    for family in sorted(found.keys() - described):
        _count(family, 0, len(found[family].devices), worse, better)
    return worse, better


def _count(family: str, promised: int, found: int, worse: Differences, better: Differences) -> None:
    if promised != found:
        difference = Difference(
            family=family, field="count", promised=str(promised), found=str(found)
        )
        (worse if found < promised else better).append(difference)


Pair = tuple[Device, Device]
_SIZES: Final = (("memoryMiB", "memory_mib"), ("cores", "cores"), ("slots", "slots"))


def _sizes(family: str, position: int, pair: Pair, worse: Differences, better: Differences) -> None:
    wanted, there = pair
    for field, name in _SIZES:
        promised, found = getattr(wanted, name), getattr(there, name)
        if promised != found:
            (worse if found < promised else better).append(
                Difference(
                    family=family,
                    field=field,
                    position=position,
                    promised=str(promised),
                    found=str(found),
                )
            )


def _others(
    family: str, position: int, pair: Pair, lists: tuple[Sequence[Device], Sequence[Device]]
) -> Iterator[Difference]:
    """Yield the fields in which there is no better and worse."""
    wanted, there = pair
    fields: list[tuple[str, str, str]] = []
    if wanted.type != there.type:
        fields.append(("type", wanted.type, there.type))
    if not _is_mode(wanted.mode, there.mode):
        fields.append(("mode", wanted.mode or "none", there.mode or "none"))
    if has_known_numa(wanted) and wanted.numa != there.numa:
        fields.append(("numa", str(wanted.numa), str(there.numa)))
    if wanted.network not in (None, there.network):
        fields.append(("network", str(wanted.network), str(there.network)))
    if sorted(wanted.mig_profiles, key=_named) != sorted(there.mig_profiles, key=_named):
        fields.append(("migGeometries", "", ""))
    if wanted.links and _scores(wanted, lists[0]) != _scores(there, lists[1], len(lists[0])):
        fields.append(("links", "", ""))
    for field, promised, found in fields:
        yield Difference(
            family=family, field=field, position=position, promised=promised, found=found
        )


def _named(profile: object) -> str:
    return repr(profile)


def _is_mode(promised: str, found: str) -> bool:
    return promised == found or (promised == USUAL_MODE and not found)


def _scores(device: Device, devices: Sequence[Device], most: int | None = None) -> list[int]:
    """Return the scores to the devices by position; one that is not stated is 0."""
    scores = dict(device.links)
    return [0 if other.id == device.id else scores.get(other.id, 0) for other in devices[:most]]
