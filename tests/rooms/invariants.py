"""What must never be, whatever breaks, checked at every line that a member writes and every second.

No room is lost or has two owners; no member that holds state leaves Ready; what is expected never falls on
unknown input; generations only grow, after a wipe too; the Target is never empty.
"""

from typing import Final

import msgspec

from examples.rooms.book import Changed, Created, Given, Giving, Kept, Line, Taken
from springtide.edge.store import MemorySite
from springtide.edge.store.fencing import Offer
from springtide.model.replicas.status import Status

TARGET_S_MAX: Final = 5.0
"""So long after its first member began may a Target be empty; nobody is Target before its first second."""


class Broken(AssertionError):
    """An invariant does not hold."""


class Wrongs:
    """What was seen that must not be; told here, and not to the member that did it."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def tell(self, words: str) -> None:
        """Keep one."""
        self.told.append(words)


class Witness:
    """Sees all lines of all members; knows who may write to which room."""

    def __init__(self, wrongs: Wrongs) -> None:
        self._wrongs = wrongs
        self.owners: dict[str, set[str]] = {}
        self.held: dict[str, set[str]] = {}
        """What is on each disk: rooms that are there or on their way from there."""
        self.moves = 0

    def see(self, member: str, line: Line) -> None:
        """Take note of a line."""
        match line:
            case Created(room=room):
                if room.id in self.owners:
                    self._wrongs.tell(f"{room.id} was created twice, the second time by {member}.")
                self.owners[room.id] = {member}
                self._held(member).add(room.id)
            case Taken(room=room):
                self._held(member).add(room.id)
                self._owns(member, room.id)
                self.moves += 1
            case Kept(id=room):
                self._owns(member, room)
            case Giving(id=room):
                self.owners[room].discard(member)
            case Changed(id=room):
                if self.owners[room] != {member}:
                    self._wrongs.tell(f"{member} wrote to {room}, owned by {self.owners[room]}.")
            case Given(id=room):
                self._held(member).discard(room)
                if member in self.owners[room]:
                    self._wrongs.tell(f"{member} gave {room} away and owns it.")
            case _:
                pass

    def _held(self, member: str) -> set[str]:
        return self.held.setdefault(member, set())

    def _owns(self, member: str, room: str) -> None:
        owners = self.owners[room]
        owners.add(member)
        if len(owners) > 1:
            self._wrongs.tell(f"{room} has several owners: {', '.join(sorted(owners))}.")


class Input(msgspec.Struct):
    """Since when the leader's load was known without a gap, by the name of the leader."""

    known_since_s: dict[str, float] = {}


class WatchedSite(MemorySite):
    """A site that checks every status that is written."""

    inputs: Input
    wrongs: Wrongs
    generation: int = 0
    expects: Status | None = None
    highest_living: int = 0

    def put(self, offer: Offer) -> int:
        """Write a status, and check it against the one before."""
        revision = super().put(offer)
        status, before = offer.status, self.expects
        if status.generation <= self.generation and before is not None and status != before:
            is_settled = (status.generation, status.expect) == (before.generation, before.expect)
            if not is_settled:
                self.wrongs.tell(
                    f"Generation {status.generation} follows {self.generation}: {status.reason}"
                )
        if before is not None and status.expect < before.expect:
            self._fell(status, before)
        self.generation, self.expects = max(status.generation, self.generation), status
        return revision

    def _fell(self, status: Status, before: Status) -> None:
        """Fewer are expected: the input was known for a window, or a store that was wiped is begun anew."""
        if before.expect > status.expect and status.current == status.expect:
            if status.expect < self.highest_living:
                self.wrongs.tell(f"{status.expect} are expected, and {self.highest_living} live.")
            return
        since_s = self.inputs.known_since_s.get(status.controller_name)
        if since_s is None:
            self.wrongs.tell(f"{status.expect} after {before.expect} on unknown input.")
