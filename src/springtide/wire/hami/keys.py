"""Annotation keys that every device family shares. Facts of the wire, spelled as HAMi spells them."""

from typing import Final

from springtide.base import annotations

NODE: Final = annotations.NODE
BIND_PHASE: Final = annotations.BIND_PHASE
BIND_FAILED: Final = annotations.BIND_FAILED

NODE_POLICY: Final = "hami.io/node-scheduler-policy"
DEVICE_POLICY: Final = "hami.io/gpu-scheduler-policy"
SCORING_WEIGHTS: Final = "hami.io/device-scoring-weights"

NUMA_BIND: Final = "nvidia.com/numa-bind"
"""On a pod: devices of one NUMA node are tried together, whatever the maker."""

DEVICE_CORDON: Final = "hami.io/device-cordon"
"""On a node: ids of devices that take no further work, separated by commas."""
