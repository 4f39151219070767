"""Says whether a device matches a selector's expression.

Programs are kept by the text of their expression, and what an expression can read of a device is kept
for the device that was asked about last: whoever chooses devices asks several selectors of each.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from springtide.model.device_facts import DeviceFacts, SelectorFault
from springtide.wire.cel.program import Program, Refused
from springtide.wire.cel.variables import NO_DOMAIN, of_device

PROGRAMS_MAX: Final = 1024


class Selectors:
    """Compiled expressions, and the device that was asked about last."""

    def __init__(self) -> None:
        self._compiled = lru_cache(maxsize=PROGRAMS_MAX)(_compiled)
        self._device: DeviceFacts | None = None
        self._variables: Mapping[str, object] = {}

    def fault_of(self, expression: str) -> str | None:
        """Return why an expression does not compile, with the place, or None if it does."""
        compiled = self._compiled(expression)
        return compiled.reason if isinstance(compiled, Refused) else None

    def matches(self, expression: str, device: DeviceFacts) -> bool:
        """Return whether the expression holds on the device, or raise SelectorFault."""
        compiled = self._compiled(expression)
        if isinstance(compiled, Refused):
            raise SelectorFault(f"compilation failed: {compiled.reason}")
        if device is not self._device:
            self._variables, self._device = of_device(device), device
        known = self._variables
        return compiled.evaluate({name: known.get(name, NO_DOMAIN) for name in compiled.variables})


def _compiled(expression: str) -> Program | Refused:
    # The library takes memory and time that a run without selectors should not spend.
    from springtide.wire.cel.compiling import compiled  # noqa: PLC0415

    return compiled(expression)
