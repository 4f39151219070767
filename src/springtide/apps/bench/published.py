"""What is published of the openb trace, and what its simulator does: facts to be held against.

Means are over seeds 42 to 51, in % of the GPU capacity of the 1,213 GPU nodes, of arrivals that ask for
130 % of it (Weng et al., USENIX ATC 2023, and the results in the simulator's repository). The replay
of seed 42 is repeated by the recorded arrivals, ranks and placements, to every printed digit. Rates are
those of the simulator on two cores; it carries a whole API server along.
"""

from typing import Final

import msgspec

SEEDS: Final = range(42, 52)
TUNE: Final = 1.3
DEFAULT: Final = "default"
"""The trace on which the simulator was timed."""
GPUS: Final = 6212
"""The GPUs of the cluster that everything here is about."""


class Within(msgspec.Struct, frozen=True, kw_only=True):
    """A published mean, and how far a mean over other seeds may be from it."""

    mean_pct: float
    tolerance_pct: float


class Printed(msgspec.Struct, frozen=True, kw_only=True):
    """What is printed of the replay of seed 42, to two decimals.

    `alloc_pct` stands at `PRINTED_AT`.
    """

    alloc_pct: tuple[float, ...]
    failed: int
    frag_pct_of_capacity: float


class Reference(msgspec.Struct, frozen=True, kw_only=True):
    """Pods a second of the published simulator: as it is shipped, and without its report a pod."""

    as_shipped: float
    report_off: float


CARRIES: Final = (
    "The reference is a whole scheduler on an in-memory API server, so a bare engine is flattered by "
    "the ratio; its rates were measured on two cores of another machine."
)
REFERENCES: Final = {
    "fgd": Reference(as_shipped=6.6, report_off=58.1),
    "bestfit": Reference(as_shipped=7.9, report_off=87.8),
    "random": Reference(as_shipped=6.8, report_off=57.1),
}
REFERENCE: Final = REFERENCES["fgd"]


def within(trace: str, policy: str, arrival_pct: int) -> Within | None:
    """Return what is published of a policy's mean allocation at this arrival, if anything is."""
    table = MEANS.get(arrival_pct, {}).get(trace)
    if table is None or policy not in POLICIES:
        return None
    place = POLICIES.index(policy)
    return Within(mean_pct=table[place], tolerance_pct=TOLERANCES[place])


POLICIES: Final = ("random", "dotprod", "gpu-clustering", "gpu-packing", "bestfit", "fgd")
TOLERANCES: Final = (0.35, 0.35, 0.6, 0.6, 0.25, 0.25)
AT_100: Final = {
    "default": (86.30, 90.62, 91.65, 91.78, 92.86, 95.23),
    "cpu050": (89.02, 93.03, 93.52, 93.46, 93.56, 95.00),
    "cpu100": (87.44, 91.73, 92.42, 92.50, 93.26, 95.21),
    "cpu200": (83.03, 87.46, 89.67, 89.98, 92.15, 94.82),
    "cpu250": (80.00, 83.57, 87.75, 88.05, 91.21, 93.20),
    "gpushare40": (84.86, 89.30, 89.76, 89.77, 91.44, 93.96),
    "gpushare60": (82.81, 86.82, 86.90, 87.15, 89.06, 91.26),
    "gpushare80": (80.62, 84.14, 84.50, 84.65, 86.66, 89.08),
    "gpushare100": (78.90, 81.98, 82.22, 82.13, 84.62, 86.64),
    "multigpu20": (86.92, 91.85, 93.34, 93.50, 93.73, 95.53),
    "multigpu30": (86.63, 93.11, 94.55, 94.70, 94.57, 96.36),
    "multigpu40": (85.38, 94.04, 95.35, 95.59, 95.10, 96.91),
    "multigpu50": (81.28, 94.73, 95.69, 96.06, 95.62, 97.09),
    "gpuspec10": (86.26, 90.17, 91.96, 92.24, 93.10, 94.66),
    "gpuspec20": (85.90, 88.29, 89.11, 89.28, 88.46, 94.66),
    "gpuspec25": (85.42, 85.44, 86.41, 86.77, 85.67, 93.91),
    "gpuspec33": (83.87, 79.82, 81.09, 82.22, 80.40, 87.84),
}
AT_130: Final = {
    "default": (87.47, 90.85, 91.88, 92.00, 93.08, 95.39),
    "cpu050": (91.24, 93.27, 93.79, 93.72, 93.79, 95.21),
    "cpu100": (89.11, 91.96, 92.64, 92.72, 93.44, 95.35),
    "cpu200": (83.77, 87.70, 89.92, 90.22, 92.40, 95.04),
    "cpu250": (80.41, 83.80, 87.99, 88.28, 91.45, 93.41),
    "gpushare40": (86.00, 89.56, 90.02, 90.03, 91.69, 94.15),
    "gpushare60": (83.65, 87.12, 87.20, 87.45, 89.36, 91.40),
    "gpushare80": (81.22, 84.49, 84.85, 85.00, 87.01, 89.30),
    "gpushare100": (79.44, 82.42, 82.65, 82.57, 85.01, 86.90),
    "multigpu20": (88.69, 92.06, 93.56, 93.71, 93.93, 95.65),
    "multigpu30": (89.27, 93.28, 94.72, 94.87, 94.72, 96.46),
    "multigpu40": (90.09, 94.19, 95.50, 95.74, 95.24, 96.99),
    "multigpu50": (90.28, 94.85, 95.81, 96.18, 95.74, 97.18),
    "gpuspec10": (87.43, 90.39, 92.18, 92.46, 93.30, 94.95),
    "gpuspec20": (87.24, 89.97, 92.24, 92.94, 93.30, 94.84),
    "gpuspec25": (86.94, 89.63, 92.08, 92.98, 93.23, 94.74),
    "gpuspec33": (86.46, 89.14, 92.12, 93.22, 93.09, 94.55),
}
MEANS: Final = {100: AT_100, 130: AT_130}

PRINTED_REPLAY: Final = "default_t13_s42"
PRINTED_AT: Final = (90, 95, 100, 110, 120, 130)
PRINTED: Final = {
    ("default", "fgd"): Printed(
        alloc_pct=(89.98, 94.92, 95.14, 95.19, 95.24, 95.29), failed=2532, frag_pct_of_capacity=4.69
    ),
    ("default", "bestfit"): Printed(
        alloc_pct=(89.98, 92.87, 92.94, 93.00, 93.07, 93.13), failed=2676, frag_pct_of_capacity=6.80
    ),
    ("default", "gpu-packing"): Printed(
        alloc_pct=(89.98, 91.30, 91.37, 91.42, 91.49, 91.57), failed=2794, frag_pct_of_capacity=8.35
    ),
    ("default", "gpu-clustering"): Printed(
        alloc_pct=(89.98, 91.26, 91.33, 91.39, 91.45, 91.53), failed=2797, frag_pct_of_capacity=8.36
    ),
    ("default", "dotprod"): Printed(
        alloc_pct=(89.95, 90.27, 90.34, 90.39, 90.46, 90.54), failed=2874, frag_pct_of_capacity=9.41
    ),
    ("gpuspec33", "fgd"): Printed(
        alloc_pct=(80.72, 84.46, 87.87, 94.29, 94.34, 94.39), failed=2510, frag_pct_of_capacity=5.53
    ),
}
