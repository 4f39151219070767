"""What the devices of a ledger hold, by family, and which nodes are in use."""

from collections.abc import Iterable

import msgspec

from springtide.model.ledger import Ledger


class DevicesUse(msgspec.Struct, frozen=True, kw_only=True):
    """All devices of one family: how many, how many of them hold something, and how much."""

    family: str
    devices: int
    in_use: int
    memory_mib: int
    memory_used_mib: int
    cores: int
    cores_used: int


def usage(ledger: Ledger) -> tuple[DevicesUse, ...]:
    """Return the use of every family that has devices, in the order of the families' names."""
    found = []
    for family, columns in sorted(ledger.devices.items()):
        rows = slice(ledger.count)
        slots, memory, cores = (
            columns.slots_used[rows],
            columns.memory_used[rows],
            columns.cores_used[rows],
        )
        in_use = (slots > 0) | (memory > 0) | (cores > 0)
        found.append(
            DevicesUse(
                family=family,
                devices=int(columns.count[rows].sum()),
                in_use=int(in_use.sum()),
                memory_mib=int(columns.memory_total[rows].sum()),
                memory_used_mib=int(memory.sum()),
                cores=int(columns.cores_total[rows].sum()),
                cores_used=int(cores.sum()),
            )
        )
    return tuple(each for each in found if each.devices)


def rows_in_use(ledger: Ledger, uids: Iterable[str]) -> frozenset[int]:
    """Return the rows on which any of these pods is."""
    holdings = ledger.holdings
    return frozenset(holdings[uid].row for uid in uids if uid in holdings)
