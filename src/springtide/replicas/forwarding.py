"""Where a request belongs that reached this member: here, at its object's owner, or nowhere just now.

Two members may see the Target set at different times and send a request to and fro. Each one that forwards
counts a hop in HOPS_HEADER, and after a few the caller is asked to try again: by then both see the same.
"""

from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

import msgspec

from springtide.model.replicas.member import Member
from springtide.replicas.ownership import owner_of

HOPS_HEADER: Final = "springtide-hops"
HOPS_MAX: Final = 3
RETRY_AFTER_S: Final = 1


class Serve(msgspec.Struct, frozen=True):
    """The object is here: answer."""


class Forward(msgspec.Struct, frozen=True):
    """Send it to this member, with so many hops in the header."""

    member: Member
    hops: int


class Unavailable(msgspec.Struct, frozen=True):
    """Answer 503 with this Retry-After: the object is on its way, or its owner is not there."""

    retry_after_s: int
    why: str


Course: TypeAlias = Serve | Forward | Unavailable


class Forwarding(msgspec.Struct, frozen=True, kw_only=True):
    """How one member forwards."""

    name: str
    hops_max: int = HOPS_MAX
    retry_after_s: int = RETRY_AFTER_S

    def decide(
        self,
        key: str,
        *,
        holds: bool,
        hops: int,
        count: int,
        members: Sequence[Member],
        given_to: str = "",
    ) -> Course:
        """Return what to do with a request.

        `count` is how many are the Target, and `given_to` the member that this one gave the object to.
        """
        if holds:
            return Serve()
        if hops >= self.hops_max:
            return self._unavailable(
                f"{key} moves while it is looked for: {hops} members passed on."
            )
        given = next((each for each in members if each.name == given_to and each.is_alive), None)
        if given is not None:
            return Forward(given, hops + 1)
        return self._to_owner(key, hops, count, members)

    def _to_owner(self, key: str, hops: int, count: int, members: Sequence[Member]) -> Course:
        if count < 1:
            return self._unavailable("Nobody knows yet how many members are wanted.")
        owner = numbered(members).get(owner_of(key, count))
        if owner is None:
            return self._unavailable(f"The owner of {key} is not there.")
        if owner.name == self.name:
            return self._unavailable(f"{key} belongs here and has not come yet.")
        return Forward(owner, hops + 1)

    def _unavailable(self, why: str) -> Unavailable:
        return Unavailable(self.retry_after_s, why)


def hops_of(header: str | None) -> int:
    """Return how often a request was forwarded; a header that makes no sense counts as HOPS_MAX."""
    if not header:
        return 0
    return int(header) if header.isascii() and header.isdecimal() and len(header) < 4 else HOPS_MAX  # noqa: PLR2004


def numbered(members: Iterable[Member]) -> dict[int, Member]:
    """Return the living members by their numbers: their own, or their places in the order of all."""
    ordered = sorted((each for each in members), key=lambda each: (each.id, each.name))
    return {
        place if each.index is None else each.index: each
        for place, each in enumerate(ordered, start=1)
        if each.is_alive
    }
