"""What an application is told, and how it is told.

Listeners are called in the order in which they subscribed, one after the other, on the controller's event
loop, each within its time. What takes longer belongs into a task of the application's own. A listener that
fails is told of and stops nobody else.
"""

from collections.abc import Callable
from typing import Any, Final, Literal, TypeAlias, get_args

import msgspec

from springtide.edge.lines import Log
from springtide.engine.replicas.phases import Phase
from springtide.model.replicas.member import Member, Record
from springtide.model.replicas.status import Status
from springtide.replicas.asking import Callback, Failed

LISTENERS_MAX: Final = 256


class TargetChanged(msgspec.Struct, frozen=True, kw_only=True):
    """Whether new state belongs here has changed: move what you hold, or take what comes."""

    is_target: bool


class ReadyChanged(msgspec.Struct, frozen=True, kw_only=True):
    """Whether this member may serve has changed."""

    is_ready: bool


class RoundChanged(msgspec.Struct, frozen=True, kw_only=True):
    """A round began, or came to its next phase."""

    phase: Phase
    status: Status


class LeaderChanged(msgspec.Struct, frozen=True, kw_only=True):
    """This member leads, or leads no more."""

    is_leader: bool


class InputUnknown(msgspec.Struct, frozen=True, kw_only=True):
    """A policy's value may not count, and why."""

    policy: str
    reason: str
    words: str


class MembersChanged(msgspec.Struct, frozen=True):
    """Who is there has changed, or what they say of themselves."""

    members: tuple[Member, ...]


class MemberLost(msgspec.Struct, frozen=True, kw_only=True):
    """A member is gone that may hold state: it crashed or is cut off, and did not drain."""

    index: int
    record: Record


class Complaint(msgspec.Struct, frozen=True):
    """Something that an operator should know."""

    words: str


Occurrence: TypeAlias = (
    TargetChanged
    | ReadyChanged
    | RoundChanged
    | LeaderChanged
    | InputUnknown
    | MembersChanged
    | MemberLost
    | Complaint
)
Kind: TypeAlias = Literal[
    "target_changed",
    "ready_changed",
    "round",
    "leader",
    "input_unknown",
    "members",
    "member_lost",
    "complaint",
]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
_KINDS: Final[dict[type, Kind]] = {
    TargetChanged: "target_changed",
    ReadyChanged: "ready_changed",
    RoundChanged: "round",
    LeaderChanged: "leader",
    InputUnknown: "input_unknown",
    MembersChanged: "members",
    MemberLost: "member_lost",
    Complaint: "complaint",
}


def kind_of(occurrence: Occurrence) -> Kind:
    """Return by which name one subscribes to it."""
    return _KINDS[type(occurrence)]


class Listeners:
    """Who wants to be told what."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._listening: dict[Kind, list[Callback]] = {}

    def subscribe(self, kind: Kind, callback: Callback) -> Callable[[], None]:
        """Tell it all of this kind from now on; the answer ends that."""
        if kind not in KINDS:
            known = ", ".join(KINDS)
            raise ValueError(f'Nothing is called "{kind}"; write one of: {known}.')
        listening = self._listening.setdefault(kind, [])
        if len(listening) >= LISTENERS_MAX:
            raise ValueError(f"{LISTENERS_MAX} listen to {kind} already; end some first.")
        listening.append(callback)

        def end() -> None:
            if callback in listening:
                listening.remove(callback)

        return end

    async def tell(self, occurrence: Occurrence) -> None:
        """Tell everybody, one after the other."""
        kind = kind_of(occurrence)
        for each in list(self._listening.get(kind, ())):
            answer = await each.call(occurrence)
            if isinstance(answer, Failed):
                name: Any = getattr(each.function, "__qualname__", repr(each.function))
                self._log("listener_failed", is_fault=True, kind=kind, name=name, why=answer.why)
