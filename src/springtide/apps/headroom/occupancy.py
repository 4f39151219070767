"""What the devices of each pool hold, by type: sums, and a histogram of free memory."""

from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

from springtide.apps.headroom.pools import Pools
from springtide.apps.headroom.report import DevicesReport, PoolReport
from springtide.model.columns import Bool
from springtide.model.device_columns import DeviceColumns
from springtide.model.ledger import Ledger

QUARTERS: Final = 4
BINS: Final = QUARTERS + 2


def occupancy(ledger: Ledger, pools: Pools) -> tuple[PoolReport, ...]:
    """Return every pool with its devices."""
    return tuple(
        PoolReport(
            name=name,
            nodes=int((pools.of_row == index).sum()),
            devices=tuple(_devices(ledger, pools, index)),
        )
        for index, name in enumerate(pools.names)
    )


def _devices(ledger: Ledger, pools: Pools, pool: int) -> Iterator[DevicesReport]:
    rows = np.flatnonzero(pools.of_row == pool)
    for columns in ledger.devices.values():
        is_there = np.arange(columns.width) < columns.count[rows][:, None]
        models = columns.model[rows]
        for code, name in enumerate(columns.types.values):
            cells = is_there & (models == code)
            if cells.any():
                yield _type(columns, name, rows, cells)


def _type(
    columns: DeviceColumns, name: str, rows: npt.NDArray[np.intp], cells: Bool
) -> DevicesReport:
    memory, memory_used = columns.memory_total[rows][cells], columns.memory_used[rows][cells]
    slots_used, cores_used = columns.slots_used[rows][cells], columns.cores_used[rows][cells]
    serves = columns.healthy[rows][cells] & ~columns.cordoned[rows][cells]
    serves &= columns.opaque[rows][cells] == 0
    is_unused = serves & (slots_used == 0) & (memory_used == 0) & (cores_used == 0)
    free = memory.astype(np.int64) - memory_used
    quarters = np.clip(-(-free * QUARTERS // np.maximum(memory, 1)), 0, QUARTERS)
    bins = np.where((memory_used <= 0) & (memory > 0), QUARTERS + 1, quarters)
    return DevicesReport(
        family=columns.family,
        type=name,
        devices=len(memory),
        unused=int(is_unused.sum()),
        unhealthy=int((~serves).sum()),
        memory_mib=int(memory.sum()),
        memory_used_mib=int(memory_used.sum()),
        cores=int(columns.cores_total[rows][cells].sum()),
        cores_used=int(cores_used.sum()),
        slots=int(columns.slots_total[rows][cells].sum()),
        slots_used=int(slots_used.sum()),
        free_memory=tuple(np.bincount(bins[serves], minlength=BINS).tolist()),
    )
