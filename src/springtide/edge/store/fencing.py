"""Whether a write of the status is taken: only from who holds the lock, over what it has seen.

A store that compares by itself, as etcd's transactions do, is given the same two numbers. So a
leader that was paused and wakes up overwrites nothing: its token is an old one.
"""

from enum import StrEnum

import msgspec

from springtide.model.replicas.status import Status


class FenceReason(StrEnum):
    """Why a write is not taken."""

    DEPOSED = "Deposed"
    CHANGED = "Changed"
    GENERATION_NOT_GROWN = "GenerationNotGrown"


class Stored(msgspec.Struct, frozen=True, kw_only=True):
    """What a store holds: the lock's token, and the status with its revision."""

    token: int
    revision: int
    status: Status | None = None


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """A status, the token of who offers it, and the revision that it was made from."""

    token: int
    revision: int
    status: Status


def refusal(stored: Stored, offer: Offer) -> FenceReason | None:
    """Return why an offer is not taken, or None if it is."""
    if offer.token != stored.token:
        return FenceReason.DEPOSED
    if offer.revision != stored.revision:
        return FenceReason.CHANGED
    if stored.status is not None and not _follows(stored.status, offer.status):
        return FenceReason.GENERATION_NOT_GROWN
    return None


def _follows(before: Status, after: Status) -> bool:
    """Return whether a new number has a new generation; times and the settling may keep it."""
    if after.expect != before.expect:
        return after.generation > before.generation
    return after.generation >= before.generation
