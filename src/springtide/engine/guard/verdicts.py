"""What is said to a change of replicas: nothing, or why it may not be and what helps."""

from enum import StrEnum
from typing import Final

import msgspec


class GuardReason(StrEnum):
    """Why replicas may not be lowered."""

    HOLDS_STATE = "HoldsState"
    FLOOR_UNKNOWN = "FloorUnknown"
    WORKLOAD_UNREAD = "WorkloadUnread"


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A workload that is to have fewer or more replicas; `autoscaler` names the one whose maximum says so."""

    kind: str
    namespace: str
    name: str
    before: int
    after: int
    autoscaler: str = ""

    @property
    def workload(self) -> str:
        """Return what people call the workload."""
        return f"{self.kind} {self.namespace}/{self.name}"

    @property
    def is_lowering(self) -> bool:
        """Return whether there are to be fewer: anything else takes nothing away."""
        return self.after < self.before


class Unknown(msgspec.Struct, frozen=True, kw_only=True):
    """It is not known how many replicas must stay, and why."""

    reason: GuardReason
    why: str


class Protected(msgspec.Struct, frozen=True, kw_only=True):
    """The change may not be; `message` is for whoever asked for it."""

    reason: GuardReason
    message: str


EXEMPT: Final = "or let a user change it who is exempt in the configuration of the guard"


def verdict(change: Change, floor: int | Unknown) -> Protected | None:
    """Return why a change may not be, None if it may; `floor` is the highest replica that holds state."""
    if not change.is_lowering:
        return None
    if isinstance(floor, Unknown):
        return Protected(reason=floor.reason, message=_in_doubt(change, floor))
    if change.after >= floor:
        return None
    return Protected(reason=GuardReason.HOLDS_STATE, message=_held(change, floor))


def _held(change: Change, floor: int) -> str:
    drained = "it is" if floor == change.after + 1 else f"{change.after + 1} to {floor} are"
    return (
        f"{_refused(change)}: replica {floor} still holds state, and {_effect(change)}. "
        f"Wait until {drained} drained; if nothing of what they held is left to save, release their protection "
        f"with `springtide replicas release-protection {floor}`, {EXEMPT}."
    )


def _in_doubt(change: Change, floor: Unknown) -> str:
    return (
        f"{_refused(change)}: it is not known which of its replicas hold state. {floor.why} "
        f"Try again when that is known, {EXEMPT}."
    )


def _refused(change: Change) -> str:
    if change.autoscaler:
        return (
            f"HorizontalPodAutoscaler {change.namespace}/{change.autoscaler} cannot have a maximum of "
            f"{change.after} for {change.workload}"
        )
    return f"{change.workload} cannot be scaled to {change.after}"


def _effect(change: Change) -> str:
    if change.autoscaler:
        return "an autoscaler removes at once what is above its maximum"
    return "fewer replicas would delete it"
