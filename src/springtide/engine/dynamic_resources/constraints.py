"""Constraints among the devices of one claim: they agree on an attribute, or they all differ in it.

A device that lacks the attribute never meets a constraint that concerns it.
"""

from collections.abc import Sequence

from springtide.engine.dynamic_resources.pools import Candidate
from springtide.model.device_slices import AttributeValue
from springtide.model.resource_claims import DeviceConstraint

Typed = tuple[type, AttributeValue]


class Watch:
    """One constraint, and the values of the devices that it has let in so far."""

    __slots__ = ("_constraint", "_values")

    def __init__(self, constraint: DeviceConstraint) -> None:
        self._constraint = constraint
        self._values: list[Typed] = []

    def add(self, request: str, candidate: Candidate) -> bool:
        """Let a device in for a request (`name` or `name/alternative`), and return whether it may."""
        if not self._concerns(request):
            return True
        value = candidate.facts.attributes.get(self._constraint.attribute)
        if value is None:
            return False
        typed = (type(value), value)
        if self._values and self._constraint.is_distinct == (typed in self._values):
            return False
        self._values.append(typed)
        return True

    def remove(self, request: str) -> None:
        """Take back the device that was let in last."""
        if self._concerns(request):
            self._values.pop()

    def _concerns(self, request: str) -> bool:
        names = self._constraint.requests
        return not names or request in names or request.partition("/")[0] in names


def add_all(watches: Sequence[Watch], request: str, candidate: Candidate) -> bool:
    """Let a device in everywhere, or nowhere if one constraint is against it."""
    for index, watch in enumerate(watches):
        if not watch.add(request, candidate):
            for earlier in watches[:index]:
                earlier.remove(request)
            return False
    return True
