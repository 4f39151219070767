"""The lock of a node: which pod's devices its plugins allocate next, as an annotation that all agree on.

The value is `<RFC 3339>,<namespace>,<name>`, or the time alone as older schedulers wrote it. Whoever
holds it for too long, or is gone, has lost it.
"""

from datetime import UTC, datetime
from enum import Enum

import msgspec

Owner = tuple[str, str]
"""A namespace and the name of a pod."""

_PARTS = 3


class Lock(msgspec.Struct, frozen=True, kw_only=True):
    """A lock that was taken: when, and by whom; an older scheduler's has no owner."""

    taken_s: float
    owner: Owner | None = None


class MalformedLock(msgspec.Struct, frozen=True):
    """A value that is no lock: nobody knows whose it is, and it would never run out."""

    fault: str


class Hold(Enum):
    """What a lock says to a pod that wants it."""

    FREE = "free"
    OWN = "own"
    EXPIRED = "expired"
    OTHERS = "others"


def written(now_s: float, owner: Owner) -> str:
    """Return the value by which a pod takes the lock."""
    moment = datetime.fromtimestamp(int(now_s), UTC)
    return ",".join((moment.strftime("%Y-%m-%dT%H:%M:%SZ"), *owner))


def read(value: str) -> Lock | MalformedLock:
    """Return the lock in a value."""
    parts = value.split(",")
    if len(parts) not in {1, _PARTS}:
        fault = f"malformed lock annotation: expected 3 parts, got {len(parts)} from {value}"
        return MalformedLock(fault)
    try:
        moment = datetime.fromisoformat(parts[0])
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        return MalformedLock(
            f'parsing time "{parts[0]}" as "2006-01-02T15:04:05Z07:00": '
            f'cannot parse "{parts[0]}" as "2006"'
        )
    owner = (parts[1], parts[2]) if len(parts) == _PARTS else None
    return Lock(taken_s=moment.timestamp(), owner=owner)


def is_own(value: str | None, owner: Owner) -> bool:
    """Return whether the lock is this pod's."""
    return value is not None and value.endswith(f",{owner[0]},{owner[1]}")


def standing(lock: Lock | None, owner: Owner, *, now_s: float, timeout_s: float) -> Hold:
    """Return what a lock says to this pod."""
    if lock is None:
        return Hold.FREE
    if lock.owner == owner:
        return Hold.OWN
    return Hold.EXPIRED if now_s - lock.taken_s > timeout_s else Hold.OTHERS
