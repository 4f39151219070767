"""How much of a device's capacities a request consumes, and whether that is there.

A request policy rounds up what is asked: to the next of some values, or to whole steps of a range.
What nobody asks for is consumed by default, or as a whole. A device that does not share itself has to
be as large as what is asked, and no more is counted.
"""

from collections.abc import Mapping

from springtide.model.device_slices import (
    DeviceCapacity,
    OfferedDevice,
    RequestPolicy,
    RequestRange,
)

Amounts = dict[str, int]
"""Nano units by capacity."""


def consumed(device: OfferedDevice, asked: Mapping[str, int]) -> Amounts | None:
    """Return what the request consumes of each capacity, None if the device cannot serve it."""
    if asked and not asked.keys() <= {each.name for each in device.capacity}:
        return None
    amounts: Amounts = {}
    for each in device.capacity:
        amount = _rounded(each, asked.get(each.name))
        if amount > each.value.nano or not _allowed(amount, each.policy):
            return None
        amounts[each.name] = amount
    return amounts


def has_room(device: OfferedDevice, wanted: Amounts, used: Mapping[str, int]) -> bool:
    """Return whether the device can give this much beside what is used."""
    return all(
        wanted[each.name] + used.get(each.name, 0) <= each.value.nano for each in device.capacity
    )


def _rounded(capacity: DeviceCapacity, asked: int | None) -> int:
    policy = capacity.policy
    if asked is None:
        default = policy.default if policy is not None else None
        return capacity.value.nano if default is None else default.nano
    if policy is None:
        return asked
    if policy.range is not None and policy.range.low is not None:
        return _stepped(asked, policy.range)
    larger = [each.nano for each in policy.values or () if each.nano >= asked]
    return min(larger, default=asked)


def _stepped(asked: int, allowed: RequestRange) -> int:
    low = allowed.low.nano if allowed.low is not None else 0
    if asked < low:
        return low
    if allowed.step is None or allowed.step.nano <= 0:
        return asked
    steps = -((low - asked) // allowed.step.nano)
    return low + steps * allowed.step.nano


def _allowed(amount: int, policy: RequestPolicy | None) -> bool:
    if policy is None or (policy.default is not None and policy.default.nano == amount):
        return True
    if policy.range is not None:
        return _is_within(amount, policy.range)
    return policy.values is None or any(each.nano == amount for each in policy.values)


def _is_within(amount: int, allowed: RequestRange) -> bool:
    if allowed.high is not None and amount > allowed.high.nano:
        return False
    if allowed.step is None or allowed.step.nano <= 0:
        return True
    low = allowed.low.nano if allowed.low is not None else 0
    return (amount - low) % allowed.step.nano == 0
