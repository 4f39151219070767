"""What users ask members, what members ask each other, and the answers."""

from typing import TypeAlias

import msgspec

from examples.rooms.room import Room

# -- users, and members that pass on what users ask


class Open(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Open a room."""

    people: int = 0
    hops: int = 0


class Say(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Say something in a room, or tell how many people are in it now."""

    room: str
    text: str = ""
    people: int | None = None
    hops: int = 0


class Look(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Show a room."""

    room: str
    hops: int = 0


# -- members among themselves


class Offer(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Will you take this room?"""

    room: str
    giver: str


class Give(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Here it is."""

    room: Room
    giver: str


class Means(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Do you still mean to give me this room?"""

    room: str
    to: str


class Where(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Is this room with you?"""

    room: str


class Count(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """How many people are in your rooms? Also tells that the member is there."""


# -- answers


class Shown(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The room as it is now, after what was asked, and who answered."""

    room: Room
    by: str


class NotFound(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """There never was such a room."""

    room: str


class Later(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Not now; ask again after some seconds."""

    retry_after_s: int
    why: str


class Yes(msgspec.Struct, frozen=True, tag=True):
    """It is so, or will be done."""


class No(msgspec.Struct, frozen=True, tag=True):
    """It is not so, or will not be done."""

    why: str = ""


class Never(msgspec.Struct, frozen=True, tag=True):
    """There never was such a room: its name is one that the asked member gives, and it did not."""


class Counted(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """So many people are in so many rooms."""

    people: int
    rooms: int


FromUser: TypeAlias = Open | Say | Look
Message: TypeAlias = FromUser | Offer | Give | Means | Where | Count
Answer: TypeAlias = Shown | NotFound | Later | Yes | No | Never | Counted
