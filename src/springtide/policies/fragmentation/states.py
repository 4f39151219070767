"""Devices in use, each distinct state once: a code stands for a kind of device and what is used of it.

A cluster has far fewer states of devices than devices. A kind is all that is registered of a device but
its name and place; a state adds what is used of slots, memory and cores. Codes are found once and stand
as long as there is room, whatever pods come; code 0 stands for no device.
"""

from typing import Final

import numpy as np
from msgspec.structs import replace

from springtide.engine.placement.family import Ask, DeviceFamily, Portion
from springtide.model.columns import Int32, Interner, distinct
from springtide.model.device import Device, DeviceView, Inventory

ASKS_MAX: Final = 1_024
INVENTORIES_MAX: Final = 65_536
NOTHING: Final = 0
"""The code of a cell without a device, and of a device that nobody can be given."""

_UNKNOWN: Final = -1

State = tuple[int, int, int, int]
"""A kind of device, and its slots, memory and cores in use."""


class States:
    """The states of one family's devices, and what becomes of each once it serves a pod.

    `mixes` are the kinds that nodes have, each once; code 0 is that of a node without devices.
    """

    def __init__(self, family: DeviceFamily) -> None:
        self.family = family
        self.kinds: Interner[Device] = Interner((Device(id=""),))
        self.mixes: Interner[tuple[int, ...]] = Interner(((),))
        self.known: Interner[State] = Interner(((0, 0, 0, 0),))
        self.code = self.known.code
        self._values = self.known.values
        self._kinds_in: dict[Inventory, tuple[tuple[int, ...], int]] = {}
        self._after: dict[Ask, Int32] = {}
        self._counts: dict[Ask, tuple[Int32, bool]] = {}

    def __len__(self) -> int:
        """Return how many states there are."""
        return len(self._values)

    def kinds_in(self, inventory: Inventory) -> tuple[tuple[int, ...], int]:
        """Return the kinds of a node's devices, and their mix."""
        known = self._kinds_in.get(inventory)
        if known is None:
            if len(self._kinds_in) >= INVENTORIES_MAX:
                self._kinds_in.clear()
            kinds = tuple(map(self.kinds.code, map(_without_name, inventory.devices)))
            mix = self.mixes.code(tuple(sorted(set(kinds))))
            known = self._kinds_in[inventory] = kinds, mix
        return known

    def codes(self, view: DeviceView) -> tuple[int, ...]:
        """Return the states of one node's devices."""
        kinds, _ = self.kinds_in(view.inventory)
        code = self.code
        return tuple(
            [
                NOTHING if use.opaque else code((kind, use.slots, use.memory_mib, use.cores))
                for kind, use in zip(kinds, view.uses, strict=True)
            ]
        )

    def is_for_one(self, ask: Ask) -> bool:
        """Return whether pods that ask this take one device, of whatever kind."""
        return self._counted(ask)[1]

    def counts(self, ask: Ask) -> Int32:
        """Return how many devices a pod takes that asks this, by mix: the most that any kind says."""
        return self._counted(ask)[0]

    def _counted(self, ask: Ask) -> tuple[Int32, bool]:
        """Return the counts, and whether all are one."""
        known = self._counts.get(ask)
        if known is None or len(known[0]) < len(self.mixes):
            if len(self._counts) >= ASKS_MAX:
                self._counts.clear()
            portions = [self.family.portion(ask, device) for device in self.kinds.values]
            by_kind = [1 if each is None else each.count for each in portions]
            mixes = self.mixes.values
            counts = np.array(
                [max([1, *(by_kind[kind] for kind in mix)]) for mix in mixes], np.int32
            )
            known = self._counts[ask] = counts, bool((counts == 1).all())
        return known

    def after(self, codes: Int32, ask: Ask) -> Int32:
        """Return the codes that devices have once each serves this ask; their own if they cannot."""
        known = self._after.get(ask)
        if known is None or len(known) < len(self):
            known = self._longer(ask, known)
        found = known.take(codes)
        if found.min(initial=NOTHING) == _UNKNOWN:
            for code in distinct(codes[found == _UNKNOWN].ravel()).tolist():
                known[code] = self._once_served(code, ask)
            found = known.take(codes)
        return found

    def _longer(self, ask: Ask, known: Int32 | None) -> Int32:
        if len(self._after) >= ASKS_MAX:
            self._after.clear()
        longer = np.full(2 * len(self), _UNKNOWN, np.int32)
        if known is not None:
            longer[: len(known)] = known
        self._after[ask] = longer
        return longer

    def _once_served(self, code: int, ask: Ask) -> int:
        kind, slots, memory_mib, cores = state = self._values[code]
        device = self.kinds.values[kind]
        portion = self.family.portion(ask, device) if code else None
        if portion is None or not _takes(device, state, portion):
            return code
        return self.code((kind, slots + 1, memory_mib + portion.memory_mib, cores + portion.cores))


def _takes(device: Device, state: State, portion: Portion) -> bool:
    """Return whether a device in this state takes the portion once more."""
    _, slots, memory_mib, cores = state
    return (
        slots < device.slots
        and memory_mib + portion.memory_mib <= device.memory_mib
        and cores + portion.cores <= device.cores
    )


def _without_name(device: Device) -> Device:
    return replace(device, id="", index=0, numa=0, links=(), network=None)
