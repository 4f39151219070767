"""One bind as it stands: what it is doing, what it knows of its node's lock, what can happen to it."""

from collections.abc import Callable
from enum import Enum

import msgspec

from springtide.engine.live.commands import Command, Notes, Outcome
from springtide.engine.live.lock import Owner


class Phase(Enum):
    """What a bind is doing."""

    QUEUED = "queued"
    READING = "reading the lock"
    PROBING = "looking for the owner of the lock"
    WAITING = "waiting for the lock"
    LOCKING = "taking the lock"
    MARKING = "marking the pod"
    CREATING = "creating the binding"
    CHECKING = "looking whether the binding was created after all"
    LOOKING = "looking at the lock to release it"
    RELEASING = "releasing the lock"
    ENDED = "ended"


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """What a bind goes by: when locks are void, and whether a pod is there that a node may yet serve.

    `is_meant_elsewhere` says of a pod that is not bound whether it is to go to another node.
    `objection` is asked once the node is locked, with the pod's uid: why it must not be bound, if so.
    """

    lock_timeout_s: float
    is_alive: Callable[[Owner, str], bool]
    is_meant_elsewhere: Callable[[Owner, str], bool]
    objection: Callable[[str], str]


class Bind(msgspec.Struct, frozen=True, kw_only=True):
    """One bind. It `locks` unless the pod asks for no devices, and waits until `deadline_s`.

    `annotations` and `labels` are written on the pod as it is marked as being bound, `marked_s` is when.
    `attempts` counts the changes of the lock that were tried, and `error` is why the bind has failed.
    `lock` and `version` are what it knows of the lock: the value, and the node's resource version.
    """

    uid: str
    namespace: str
    name: str
    node: str
    locks: bool
    begun_s: float
    deadline_s: float
    annotations: Notes = {}
    labels: Notes = {}
    phase: Phase = Phase.QUEUED
    marked_s: int = 0
    attempts: int = 0
    error: str = ""
    lock: str | None = None
    version: str = ""

    @property
    def owner(self) -> Owner:
        """Return how the pod is named in a lock."""
        return self.namespace, self.name

    @property
    def is_ended(self) -> bool:
        """Return whether there is an answer."""
        return self.phase is Phase.ENDED

    @property
    def waits(self) -> bool:
        """Return whether the bind is waiting for something that is nobody's answer."""
        return self.phase in {Phase.QUEUED, Phase.WAITING}


class LockSeen(msgspec.Struct, frozen=True, kw_only=True):
    """The node's lock as it is known now, with the resource version; none if it must be read."""

    value: str | None
    version: str


class TimePassed(msgspec.Struct, frozen=True):
    """Nothing but time has passed, or the owner of the lock may be gone."""


Event = Outcome | LockSeen | TimePassed
Step = tuple[Bind, Command | None]
