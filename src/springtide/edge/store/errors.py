"""Faults of stores, sorted by what the caller can do about them.

StoreFault
├── Unreachable   nobody knows whether it was done: look again before it is tried again
├── Conflict      somebody else wrote, or holds the lock: read again, decide again
├── Denied        an operator must change rights or credentials
├── Oversized     more than the store keeps: write less, or delete something before
└── Malformed     what is stored is none of ours: it is kept, and an operator looks at it
"""

from springtide.base.errors import SpringtideError


class StoreFault(SpringtideError):
    """The store did not do what it was asked."""


class Unreachable(StoreFault):
    """The store did not answer in time, or not at all."""


class Conflict(StoreFault):
    """What a write was made from does not hold any more; `reason` says in one word why."""

    def __init__(self, reason: str, why: str) -> None:
        super().__init__(why)
        self.reason = reason


class Denied(StoreFault):
    """The store knows us not, or not for this."""


class Oversized(StoreFault):
    """The store has no room for it, or none of this name."""


class Malformed(StoreFault):
    """What is there cannot be read."""
