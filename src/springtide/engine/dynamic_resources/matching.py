"""Whether devices are what requests select, answered once for equal devices.

Selectors are judged lazily: a class's before the request's own, and only on devices that the search
gets to. A selector that faults ends the search.
"""

from typing import Final, Protocol

from springtide.engine.dynamic_resources.faults import AllocationFault
from springtide.engine.dynamic_resources.pools import Candidate
from springtide.engine.dynamic_resources.reading import (
    Attributes,
    attributes_read,
    words_read,
)
from springtide.model.device_facts import DeviceFacts, SelectorFault
from springtide.model.device_slices import DeviceCapacity

ANSWERS_MAX: Final = 1 << 18


class DeviceSelectors(Protocol):
    """Evaluates selectors of devices."""

    def matches(self, expression: str, device: DeviceFacts) -> bool:
        """Return whether the device is selected, or raise SelectorFault with a message."""
        ...


Content = tuple[str, Attributes, tuple[DeviceCapacity, ...], bool]


class Matching:
    """The answers so far, by selector and by what a selector can read of a device."""

    def __init__(self, selectors: DeviceSelectors) -> None:
        self._selectors = selectors
        self._answers: dict[tuple[str, Content], bool | SelectorFault] = {}

    def selects(self, expressions: tuple[str, ...], candidate: Candidate, *, whose: str) -> bool:
        """Return whether all expressions select the device, or raise AllocationFault."""
        for index, expression in enumerate(expressions):
            answer = self._answer(expression, candidate)
            if isinstance(answer, SelectorFault):
                where = f"{whose}: selector #{index}"
                raise AllocationFault(f"{where} on device {candidate.text}: {answer}")
            if not answer:
                return False
        return True

    def _answer(self, expression: str, candidate: Candidate) -> bool | SelectorFault:
        device = candidate.device
        attributes = attributes_read(device, words_read(expression))
        seen = (candidate.id[0], attributes, device.capacity, device.allows_multiple)
        known = self._answers.get((expression, seen))
        if known is None:
            known = self._ask(expression, candidate.facts)
            if len(self._answers) >= ANSWERS_MAX:
                self._answers.clear()
            self._answers[expression, seen] = known
        return known

    def _ask(self, expression: str, facts: DeviceFacts) -> bool | SelectorFault:
        try:
            return self._selectors.matches(expression, facts)
        except SelectorFault as fault:
            return fault
