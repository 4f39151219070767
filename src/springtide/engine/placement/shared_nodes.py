"""How loaded nodes are when the devices of all families count together.

Each family scores its own devices. HAMi takes all devices of a node for one sum, whatever the pod asks
for; where placements are to be HAMi's, nodes are scored so.
"""

from collections.abc import Iterable

import numpy as np

from springtide.engine.placement.family import Rows
from springtide.model.columns import Float32, Int64
from springtide.model.device_columns import DeviceColumns
from springtide.model.device_load import loads_of


def loads_of_all(families: Iterable[DeviceColumns], rows: Rows) -> Float32:
    """Return how loaded these rows are, all devices taken together; 0 where anything has none."""
    used: Int64 = np.zeros((3, len(rows)), np.int64)
    # Whole numbers, exact in double precision.
    total = np.zeros((3, len(rows)))
    for columns in families:
        used += columns.used_sums.take(rows, axis=1)
        cells = (columns.memory_total, columns.cores_total, columns.slots_total)
        total += np.array([each.take(rows, axis=0).sum(axis=1) for each in cells])
    total[:, (total == 0).any(axis=0)] = np.inf
    return loads_of(used, total.astype(np.float32))
