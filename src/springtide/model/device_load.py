"""How loaded a node's devices are: ten times the sum of the parts of slots, cores and memory in use.

HAMi computes in IEEE single precision and the last digit decides between nodes. Every operation here
is done in double precision and rounded to single, which for sums, products and quotients of two
single values gives exactly the single result.
"""

from struct import Struct
from typing import Final

import numpy as np

from springtide.model.columns import Float32, Int64

Three = tuple[float, float, float]

SCALE: Final = 10.0
_SINGLE: Final = Struct("f")
_THREE: Final = Struct("3f")


def single(value: float) -> float:
    """Return the value rounded to single precision."""
    rounded: float = _SINGLE.unpack(_SINGLE.pack(value))[0]
    return rounded


def singles(first: float, second: float, third: float) -> Three:
    """Return three values rounded to single precision, in a third of the time of one by one."""
    rounded: Three = _THREE.unpack(_THREE.pack(first, second, third))
    return rounded


def load_of(used: Three, total: Three) -> float:
    """Return the load of one node from memory, cores and slots; infinite totals make it 0."""
    memory, cores, slots = singles(*used)
    memory, cores, slots = singles(memory / total[0], cores / total[1], slots / total[2])
    return single(SCALE * single(single(slots + cores) + memory))


def loads_of(used: Int64, total: Float32) -> Float32:
    """Return the loads of n nodes from memory, cores and slots [3, n] as `load_of` does."""
    memory, cores, slots = used.astype(np.float32) / total
    loads: Float32 = slots + cores
    loads += memory
    loads *= np.float32(SCALE)
    return loads
