"""What the users saw, held against what must not be: a lost room, a lost sentence, two owners of one room.

Versions tell it from outside. Each change that a member accepted has one of its own; if two members accepted
changes, a version comes twice. What was answered once is never answered older afterwards.
"""

from collections.abc import Mapping
from typing import Final

import msgspec

from examples.rooms.room import Room

WRONGS_MAX: Final = 100
"""So many of the first are kept."""


class Tally(msgspec.Struct, kw_only=True):
    """How requests went."""

    asked: int = 0
    at_first: int = 0
    """Answered by the first member that was asked."""
    again: int = 0
    """Answered after another try."""
    failed: int = 0
    """Not answered in time."""
    why: dict[str, int] = {}


class Checker:
    """Judges every answer."""

    def __init__(self) -> None:
        self.tally = Tally()
        self.wrongs: list[str] = []
        self._newest: dict[str, int] = {}
        self._written: dict[str, dict[int, str]] = {}

    @property
    def rooms(self) -> list[str]:
        """Return the rooms that were opened."""
        return list(self._newest)

    def newest(self, room: str) -> int:
        """Return the newest version that was seen; what is asked from now on must not be older."""
        return self._newest.get(room, 0)

    def opened(self, room: Room, by: str) -> None:
        """A room was opened."""
        if room.id in self._newest:
            self._wrong(f"{room.id} was opened twice, the second time by {by}.")
        self._newest[room.id] = room.version

    def wrote(self, room: Room, by: str, *, since: int) -> None:
        """A change was accepted that was asked for when `since` was the newest version."""
        written = self._written.setdefault(room.id, {})
        if room.version in written:
            other = written[room.version]
            self._wrong(f"{other} and {by} both wrote version {room.version} of {room.id}.")
        written[room.version] = by
        self._saw(room, by, is_new=room.version > since, since=since)

    def looked(self, room: Room, by: str, *, since: int) -> None:
        """A room was shown that was asked for when `since` was the newest version."""
        self._saw(room, by, is_new=room.version >= since, since=since)

    def lost(self, room: str) -> None:
        """All members say that there is no such room."""
        self._wrong(f"{room} is lost: no member knows it.")

    def gone(self, answers: Mapping[str, str]) -> None:
        """At the end, when all is well again, some rooms cannot be had."""
        for room, why in answers.items():
            self._wrong(f"{room} cannot be had at the end: {why}")

    def _saw(self, room: Room, by: str, *, is_new: bool, since: int) -> None:
        if not is_new:
            self._wrong(f"{by} showed version {room.version} of {room.id} after version {since}.")
        self._newest[room.id] = max(self.newest(room.id), room.version)

    def _wrong(self, words: str) -> None:
        if len(self.wrongs) < WRONGS_MAX:
            self.wrongs.append(words)
