"""Taints, tolerations, and whether one tolerates the other.

The rules are those of kube-scheduler 1.37. Its numeric operators `Lt` and `Gt` are behind a feature
gate that is off by default, so every question takes `numeric`. How long a toleration lasts plays no
part in scheduling and is not kept.
"""

import re
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

NO_SCHEDULE: Final = "NoSchedule"
NO_EXECUTE: Final = "NoExecute"
PREFER_NO_SCHEDULE: Final = "PreferNoSchedule"
REPELLING_EFFECTS: Final = frozenset({NO_SCHEDULE, NO_EXECUTE})


class Taint(Struct, frozen=True, kw_only=True, gc=False):
    """A mark on a node that keeps pods away."""

    key: str
    value: str = ""
    effect: str = NO_SCHEDULE


class Toleration(Struct, frozen=True, kw_only=True, gc=False):
    """A pod's permission to ignore taints; an empty key or effect stands for every one."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""


def first_untolerated(
    taints: Sequence[Taint], tolerations: Sequence[Toleration], *, numeric: bool = False
) -> int | None:
    """Return the index of the first NoSchedule or NoExecute taint that nothing tolerates."""
    for index, taint in enumerate(taints):
        if taint.effect in REPELLING_EFFECTS and not any(
            tolerates(toleration, taint, numeric=numeric) for toleration in tolerations
        ):
            return index
    return None


def tolerates(toleration: Toleration, taint: Taint, *, numeric: bool = False) -> bool:
    """Say whether the toleration covers the taint."""
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    match toleration.operator:
        case "" | "Equal":
            return toleration.value == taint.value
        case "Exists":
            return True
        case "Lt" | "Gt":
            return numeric and _compares(toleration, taint)
        case _:
            return False


def _compares(toleration: Toleration, taint: Taint) -> bool:
    tainted, tolerated = _canonical_int64(taint.value), _canonical_int64(toleration.value)
    if tainted is None or tolerated is None:
        return False
    return tainted < tolerated if toleration.operator == "Lt" else tainted > tolerated


# Signs, blanks and leading zeros other than these would have failed API validation.
_CANONICAL: Final = re.compile(r"0|-?[1-9][0-9]{0,18}")


def _canonical_int64(text: str) -> int | None:
    if _CANONICAL.fullmatch(text) is None:
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None
