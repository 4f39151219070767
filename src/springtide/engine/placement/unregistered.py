"""Refusals that come before any device is looked at: what is written cannot be used, or is missing."""

from springtide.engine.placement.reasons import NODE_UNREGISTERED
from springtide.model.pod import Pod
from springtide.model.refusal import Refusal

PROFILE = "device profile"


def unregistered(family: str, *, detail: str = "") -> Refusal:
    """Return the refusal of a node on which no device of the family is known."""
    return Refusal(rule=family, reasons=(NODE_UNREGISTERED,), is_unresolvable=True, detail=detail)


def malformed(family: str, fault: str) -> Refusal:
    """Return the refusal of a node whose registration cannot be read."""
    reasons = (f"device registration malformed: {fault}",)
    return Refusal(rule=family, reasons=reasons, is_unresolvable=True)


def unreadable(family: str, pod: Pod, fault: str) -> Refusal:
    """Return what stands for the allocation of a pod that cannot be read."""
    reasons = (f"device allocation of pod {pod.key} unreadable: {fault}",)
    return Refusal(rule=family, reasons=reasons)


def impossible(family: str, pod: Pod, why: str) -> Refusal:
    """Return what stands for the allocation of a pod that is said to be where it does not fit."""
    return Refusal(rule=family, reasons=(f"device allocation of pod {pod.key} impossible: {why}",))
