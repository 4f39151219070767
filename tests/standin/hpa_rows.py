"""What an autoscaler does about which numbers, by the ids of the rows: for the stand-in and for the real one.

E is how many replicas are wanted and S the highest one that holds state, both in thousandths as items;
None is no answer. Every row is one round from a new memory.
"""

from typing import Final, Literal

import msgspec

from tests.standin.hpa import Autoscaler
from tests.standin.hpa_behavior import DOWN, UP, Behavior, Bounds, Policy, Rules
from tests.standin.hpa_maths import EXACT, Items, Metric, Scale, Tolerance

Kind = Literal["AverageValue", "Value"]
AT_ONCE: Final = Rules(window_s=0.0, policies=(Policy(kind="Pods", value=100, period_s=1.0),))
FREE: Final = Behavior(up=AT_ONCE, down=AT_ONCE)
CALM: Final = Behavior(up=AT_ONCE, down=Rules(window_s=300.0, policies=AT_ONCE.policies))
FROZEN: Final = Behavior(
    up=AT_ONCE, down=Rules(window_s=0.0, select="Disabled", policies=AT_ONCE.policies)
)
LOOSE: Final = Tolerance()


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One round: what there is, what the metrics say, and what the workload is to have after it.

    `reason` is that of the condition ScalingActive, empty if the round says nothing about it.
    """

    scale: Scale
    answers: tuple[Items | None, ...]
    replicas: int
    reason: str = "ValidMetricFound"
    kind: Kind = "AverageValue"
    tolerance: Tolerance = EXACT
    bounds: Bounds = Bounds(least=1, most=50)
    behavior: Behavior = FREE


def has(wanted: int, there: int | None = None, *, ready: int = 0) -> Scale:
    """Return what a workload should have and has, the same unless told."""
    return Scale(wanted=wanted, there=wanted if there is None else there, ready=ready)


def one(replicas: float) -> Items:
    """Return the one item of a metric."""
    return (round(replicas * 1000),)


FAILED: Final = "FailedGetExternalMetric"

ROWS: Final = {
    "H-1 an absolute number": Row(scale=has(4), answers=(one(12),), replicas=12),
    "H-2 a value is multiplied by ready pods": Row(
        scale=has(4, ready=4), answers=(one(12),), kind="Value", replicas=48
    ),
    "H-3 two items are summed": Row(scale=has(8), answers=((8000, 8000),), replicas=16),
    "H-4 a fraction rounds up": Row(scale=has(8), answers=((10_001,),), replicas=11),
    "H-5 a tenth swallows one of ten": Row(
        scale=has(10), answers=(one(11),), tolerance=LOOSE, replicas=10
    ),
    "H-5 two of ten are reached": Row(
        scale=has(10), answers=(one(12),), tolerance=LOOSE, replicas=12
    ),
    "H-6 a pod that starts is scaled in": Row(
        scale=has(14, 13), answers=(one(14),), tolerance=LOOSE, replicas=13
    ),
    "H-6 a window keeps it": Row(
        scale=has(14, 13), answers=(one(14),), tolerance=LOOSE, behavior=CALM, replicas=14
    ),
    "H-6 exactness keeps it": Row(scale=has(14, 13), answers=(one(14),), replicas=14),
    "H-7 a pod that goes is replaced": Row(
        scale=has(10, 11), answers=(one(10),), tolerance=LOOSE, replicas=11
    ),
    "H-7 exactness lets it go": Row(scale=has(10, 11), answers=(one(10),), replicas=10),
    "H-8 the highest that holds state is the floor": Row(
        scale=has(12), answers=(one(10), one(12)), replicas=12
    ),
    "H-9 a fault keeps it from shrinking": Row(
        scale=has(12), answers=(None, one(8)), replicas=12, reason=FAILED
    ),
    "H-9 it grows in spite of a fault": Row(scale=has(12), answers=(None, one(14)), replicas=14),
    "H-9 two faults keep it": Row(scale=has(12), answers=(None, None), replicas=12, reason=FAILED),
    "H-10 a zero is a number like any other": Row(
        scale=has(6),
        answers=(one(0), one(0)),
        bounds=Bounds(least=2, most=50),
        replicas=2,
    ),
    "H-11 somebody has switched it off": Row(
        scale=has(0), answers=(one(5),), replicas=0, reason="ScalingDisabled"
    ),
    "H-12 a maximum that is lowered counts at once": Row(
        scale=has(12),
        answers=(one(12), one(12)),
        bounds=Bounds(least=1, most=8),
        behavior=CALM,
        replicas=8,
        reason="",
    ),
    "H-13 it grows by four or doubles": Row(
        scale=has(2), answers=(one(20),), behavior=Behavior(up=UP, down=DOWN), replicas=6
    ),
    "H-14 it shrinks by one": Row(
        scale=has(12),
        answers=(one(10),),
        behavior=Behavior(
            up=AT_ONCE,
            down=Rules(window_s=0.0, policies=(Policy(kind="Pods", value=1, period_s=30.0),)),
        ),
        replicas=11,
    ),
    "H-15 nothing runs yet": Row(scale=has(1, 0), answers=(one(5),), replicas=5),
    "H-16 a fraction more reaches past a tenth": Row(
        scale=has(12), answers=(one(10.001),), tolerance=LOOSE, replicas=11
    ),
    "H-17 one more reaches past a tenth": Row(
        scale=has(10), answers=(one(12),), tolerance=LOOSE, replicas=12
    ),
    "H-17 or it is held": Row(scale=has(10), answers=(one(10),), tolerance=LOOSE, replicas=10),
    "R-45 shrinking is off until asked for": Row(
        scale=has(12), answers=(one(4),), behavior=FROZEN, replicas=12
    ),
}


def autoscaler_of(row: Row) -> Autoscaler:
    """Return the autoscaler of a row."""
    names = ("E", "S")
    return Autoscaler(
        metrics=tuple(
            Metric(name=name, kind=row.kind) for name, _ in zip(names, row.answers, strict=False)
        ),
        bounds=row.bounds,
        behavior=row.behavior,
        tolerance=row.tolerance,
    )
