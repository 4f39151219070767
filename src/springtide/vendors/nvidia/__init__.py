"""NVIDIA cards as HAMi shares them: by memory, cores and slots, or cut into MIG instances.

`ask` and `admission` read pods, `codec` nodes and running pods; `fit` places a pod exactly on one
node, `vector` judges many nodes at once, and a test holds the two together. `topology` and `mig`
choose among linked cards and among MIG placements, `usage` says what an allocation costs.
"""

from typing import Final

from springtide.engine.placement.family import DeviceFamily
from springtide.vendors.nvidia.ask import NvidiaAsk
from springtide.vendors.nvidia.config import NvidiaConfig, config_from
from springtide.vendors.nvidia.family import Nvidia

FAMILY: Final[DeviceFamily] = Nvidia()
"""The family with HAMi's default resource names and policies."""

__all__ = ["FAMILY", "Nvidia", "NvidiaAsk", "NvidiaConfig", "config_from"]
