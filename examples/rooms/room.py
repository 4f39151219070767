"""A chat room."""

from typing import Final

import msgspec

SAID_MAX: Final = 20
"""So many of the latest sentences a room remembers."""


class Room(msgspec.Struct, frozen=True, kw_only=True):
    """One room; its version grows by one with every change and every move."""

    id: str
    version: int = 1
    people: int = 0
    said: tuple[str, ...] = ()


def changed(room: Room, *, text: str, people: int | None) -> Room:
    """Return the next version of a room: something was said, or people came and went."""
    said = (*room.said, text)[-SAID_MAX:] if text else room.said
    return Room(
        id=room.id,
        version=room.version + 1,
        people=room.people if people is None else people,
        said=said,
    )
