"""What the live scheduler wants done in the cluster, and what came of it.

Commands are performed in order, each within a deadline of the shell's; those about one pod or node never
overtake each other, so that what takes an annotation off cannot meet a later one that was written. Where
`bind` is not empty, what came of the command is told by `Live.outcome`, and nothing more is asked for that
bind before.
"""

from collections.abc import Mapping
from enum import StrEnum

import msgspec

Notes = Mapping[str, str | None]
"""Annotations or labels of a merge patch: None deletes."""


class PatchNode(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Change annotations of a node; with a `version`, only if its resource version is still this one."""

    name: str
    annotations: Notes
    version: str = ""
    bind: str = ""


class PatchPod(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Change annotations and labels of a pod, of the one with this uid only."""

    uid: str
    namespace: str
    name: str
    annotations: Notes
    labels: Notes = {}
    bind: str = ""


class ReadNode(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Read a node from the API server itself, `after_s` from now; its outcome is `NodeRead`."""

    name: str
    after_s: float = 0.0
    bind: str = ""


class ReadPod(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Read a pod from the API server itself; its outcome is `PodRead`."""

    namespace: str
    name: str
    bind: str = ""


class CreateBinding(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Bind a pod to a node."""

    uid: str
    namespace: str
    name: str
    node: str
    bind: str = ""


class AnswerBind(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Answer the bind call of this pod: an empty error is success. There is no outcome."""

    uid: str
    error: str = ""


class RecordEvent(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Record an event on a pod. There is no outcome."""

    uid: str
    namespace: str
    name: str
    reason: str
    message: str
    is_warning: bool = False


Command = PatchNode | PatchPod | ReadNode | ReadPod | CreateBinding | AnswerBind | RecordEvent
Commands = tuple[Command, ...]


class Fault(StrEnum):
    """Why a command failed, sorted by what follows from it."""

    CONFLICT = "Conflict"
    NOT_FOUND = "NotFound"
    OTHER = "Other"


class Done(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The command was performed; `version` is the new resource version of what was patched."""

    version: str = ""


class Failed(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The command failed, in the words of the API server. A lost answer is `OTHER`."""

    fault: Fault
    message: str


class NodeRead(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A node was read: all of its annotations, and its resource version."""

    annotations: Mapping[str, str]
    version: str


class PodRead(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A pod was read, with its node if it is bound; one that is not there is `Failed`, `NOT_FOUND`."""

    is_finished: bool
    node: str = ""


Outcome = Done | Failed | NodeRead | PodRead
