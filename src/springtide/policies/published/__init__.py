"""Placement as published, for comparison: one module a policy, each on the cluster of a replay.

Six are those of "Beware of Fragmentation" (Weng and others, USENIX ATC 2023), as their simulator
decides; `first-fit` takes the node of the lowest rank, and the `hami` ones score as HAMi's scheduler
does. Scores are whole numbers where the origin truncates them: ties are common and go to the lowest rank.
"""

from collections.abc import Mapping
from typing import Final

from springtide.engine.trace.policy import Policy
from springtide.policies.published.bestfit import BestFit
from springtide.policies.published.dotprod import DotProd
from springtide.policies.published.fgd import Fgd
from springtide.policies.published.first_fit import FirstFit
from springtide.policies.published.gpu_clustering import GpuClustering
from springtide.policies.published.gpu_packing import GpuPacking
from springtide.policies.published.hami import hami_binpack, hami_default, hami_spread
from springtide.policies.published.random import Random

PUBLISHED: Final[Mapping[str, Policy]] = {
    "fgd": Fgd,
    "bestfit": BestFit,
    "dotprod": DotProd,
    "gpu-packing": GpuPacking,
    "gpu-clustering": GpuClustering,
    "random": Random,
    "first-fit": FirstFit,
    "hami-binpack": hami_binpack,
    "hami-default": hami_default,
    "hami-spread": hami_spread,
}
"""The policies by the names that people type."""

__all__ = ["PUBLISHED"]
