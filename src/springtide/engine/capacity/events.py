"""Cluster Autoscaler's events about pods: what it writes on a pod that it does or does not help.

Texts only. Reasons are counted by groups, those of the most groups first and equal counts by text;
the original gives them in an order of chance.
"""

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

from springtide.engine.capacity.decision import Growth
from springtide.model.refusal import Refusal

TRIGGERED: Final = "TriggeredScaleUp"
NOT_TRIGGERED: Final = "NotTriggerScaleUp"

_SHARE: Final = re.compile(r"\b[0-9]+/[0-9]+ ")


def triggered(growths: Iterable[tuple[Growth, int]]) -> str:
    """Return the text for a pod that groups grow for, each growth with its group's maximum."""
    grown = (
        f"{{{growth.name} {growth.size_before}->{growth.size_after} (max: {most})}}"
        for growth, most in growths
    )
    return f"pod triggered scale-up: [{' '.join(grown)}]"


def not_triggered(refusals: Iterable[Refusal]) -> str:
    """Return the text for a pod that no group grows for, from what every group says."""
    counts = Counter(reason for refusal in refusals for reason in _kinds(refusal))
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    told = ", ".join(f"{count} {reason}" for reason, count in ordered)
    return f"pod didn't trigger scale-up: {told}"


def _kinds(refusal: Refusal) -> set[str]:
    """Return the reasons without how many devices of how many each concerns: groups are counted."""
    return {_SHARE.sub("", reason) for reason in refusal.reasons}
