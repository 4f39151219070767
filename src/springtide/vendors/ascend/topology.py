"""Which of the acceptable chips belong together: the two of a module, those of one fast network.

Modules are numbered by the registered index: chips 0 and 1, 2 and 3, and so on.
"""

from collections.abc import Sequence
from functools import lru_cache

from springtide.engine.placement.trial import INVENTORIES_MAX
from springtide.model.device import Device, Inventory

_MODULE_SIZE = 2


def whole_modules(devices: Sequence[Device], collected: Sequence[int], count: int) -> list[int]:
    """Return the chips of as many whole modules as `count` needs, or of all that there are.

    The modules come in the order of their numbers; a half module is not touched.
    """
    modules: dict[int, list[int]] = {}
    for position in collected:
        modules.setdefault(devices[position].index // _MODULE_SIZE, []).append(position)
    taken: list[int] = []
    for _, module in sorted(modules.items()):
        if len(taken) < count and len(module) == _MODULE_SIZE:
            taken += module
    return taken


def nearest(devices: Sequence[Device], collected: Sequence[int], count: int) -> list[int]:
    """Return so many of at least as many chips: a single one as collected, else by network.

    The networks with the most chips come first, equal ones in the order of their numbers.
    """
    if count == 1 or len(collected) == count:
        return list(collected[:count])
    networks: dict[int, list[int]] = {}
    for position in collected:
        network = devices[position].network
        assert network is not None, "chips are chosen by network only if all of them are in one"
        networks.setdefault(network, []).append(position)
    ordered = sorted(networks.items(), key=lambda item: (-len(item[1]), item[0]))
    return [position for _, found in ordered for position in found][:count]


def closeness(networks: Sequence[int | None]) -> float:
    """Return which part of the chips is in the most frequent network."""
    return max(networks.count(network) for network in networks) / len(networks)


@lru_cache(maxsize=INVENTORIES_MAX)
def partners(inventory: Inventory) -> tuple[int, ...] | None:
    """Return per position that of the other chip of its module, its own if there is none.

    None if a module has more than two chips, because then it depends on their use who is whose.
    """
    modules: dict[int, list[int]] = {}
    for position, device in enumerate(inventory.devices):
        modules.setdefault(device.index // _MODULE_SIZE, []).append(position)
    if any(len(module) > _MODULE_SIZE for module in modules.values()):
        return None
    found = list(range(len(inventory.devices)))
    for module in modules.values():
        if len(module) == _MODULE_SIZE:
            found[module[0]], found[module[1]] = module[1], module[0]
    return tuple(found)
