"""What a member holds, as a fold over the lines that it writes down; no I/O.

A room lives at exactly one member, which accepts writes, and goes to another one by hand:

    the owner asks       will you take it?       the other writes Expecting, which counts as state there
    it writes Giving     and accepts no writes   the version grows by one
    it sends the room                            the other writes Taken, or Refused
    it writes Given      or Kept                 with yet another version

Each line is written before anybody is answered, so that a member killed at any point goes on where it was.
A copy of a transfer that comes late, or twice, is older than what is known of the room, and is not taken.
"""

from typing import Final, TypeAlias, assert_never

import msgspec
from msgspec.structs import replace

from examples.rooms.room import Room, changed
from springtide.replicas.migration import Versions

DIGITS_MAX: Final = 12


class Created(msgspec.Struct, frozen=True, tag=True):
    """A room begins here."""

    room: Room


class Changed(msgspec.Struct, frozen=True, tag=True):
    """Something was said, or people came and went."""

    id: str
    text: str
    people: int | None


class Giving(msgspec.Struct, frozen=True, tag=True):
    """The room is on its way to another member, and nobody writes to it."""

    id: str
    version: int
    to: str


class Given(msgspec.Struct, frozen=True, tag=True):
    """The other one has it."""

    id: str


class Kept(msgspec.Struct, frozen=True, tag=True):
    """The other one refused, so it stays, under a version that outdates what was sent."""

    id: str
    version: int


class Expecting(msgspec.Struct, frozen=True, tag=True):
    """A room was promised to be taken from this member."""

    id: str
    giver: str


class Dropped(msgspec.Struct, frozen=True, tag=True):
    """The other one does not mean to give it any more."""

    id: str


class Refused(msgspec.Struct, frozen=True, tag=True):
    """A room came that nobody expected; that version is never taken."""

    id: str
    version: int


class Taken(msgspec.Struct, frozen=True, tag=True):
    """A room came."""

    room: Room


Line: TypeAlias = Created | Changed | Giving | Given | Kept | Expecting | Dropped | Refused | Taken


class Book:
    """The rooms of a member, where others went, and what is under way."""

    def __init__(self) -> None:
        self.rooms: dict[str, Room] = {}
        """Those that are here, and those on their way of which nobody said that they came."""
        self.giving: dict[str, str] = {}
        """To whom a room is on its way."""
        self.gone: dict[str, str] = {}
        """To whom a room was given."""
        self.expecting: dict[str, str] = {}
        """From whom a room is expected."""
        self.refused: dict[str, int] = {}
        self.versions = Versions()
        self.created = 0

    def accepts_writes(self, room: str) -> bool:
        """Return whether this member is the one that owns a room now."""
        return room in self.rooms and room not in self.giving

    @property
    def owned(self) -> int:
        """Return how much would be lost without this member: rooms, and promises to take one."""
        return len(self.rooms) + len(self.expecting)

    @property
    def people(self) -> int:
        """Return how many people are in the rooms here."""
        return sum(each.people for each in self.rooms.values())

    def was_never_created(self, room: str, *, by: str) -> bool:
        """Return whether a room has a name that only this member gives, and has not given yet."""
        creator, _, rest = room.partition(".")
        number = rest.partition(".")[0]
        is_number = number.isascii() and number.isdecimal() and len(number) <= DIGITS_MAX
        return creator == by and (not is_number or int(number) >= self.created)

    def answer_to(self, room: Room, giver: str) -> Line | None:
        """Return what to write down when a room comes; None if that was done already."""
        if not self.versions.accepts(room.id, room.version):
            return None
        if self.expecting.get(room.id) == giver:
            return Taken(room)
        return Refused(room.id, room.version)

    def apply(self, line: Line) -> None:
        """Take one line."""
        match line:
            case Created(room=room):
                self.created += 1
                self._keep(room)
            case Changed(id=key, text=text, people=people):
                self.versions.write(key, self.rooms[key].version)
                self.rooms[key] = changed(self.rooms[key], text=text, people=people)
            case Giving(id=key, version=version, to=to):
                self._keep(replace(self.rooms[key], version=version))
                self.giving[key] = to
            case Given(id=key):
                self.gone[key] = self.giving.pop(key)
                del self.rooms[key]
            case Kept(id=key, version=version):
                del self.giving[key]
                self._keep(replace(self.rooms[key], version=version))
            case Expecting(id=key, giver=giver):
                self.expecting[key] = giver
            case Dropped(id=key):
                self.expecting.pop(key, None)
            case Refused(id=key, version=version):
                self.versions.take(key, version)
                self.refused[key] = version
            case Taken(room=room):
                del self.expecting[room.id]
                self.gone.pop(room.id, None)
                self._keep(room)
            case _:
                assert_never(line)

    def _keep(self, room: Room) -> None:
        self.versions.take(room.id, room.version)
        self.rooms[room.id] = room
