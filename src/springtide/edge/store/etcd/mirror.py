"""What is known of the keys of a workload: as of one revision, from reads and from watches alike.

Both go through one door, so that what a read drops no event brings in (a member that cannot be read is no
member), and what is older than what is known changes nothing.
"""

from collections.abc import Iterable, Mapping
from enum import Enum, auto

import msgspec

from springtide.edge.store.etcd.shapes import DELETE, Found, Happened, KeyValue
from springtide.edge.store.etcd.spans import Span, folder_spans
from springtide.edge.store.told import (
    ABSENT,
    LockRead,
    MembersRead,
    NumbersRead,
    RecordsRead,
    StatusDamaged,
    StatusRead,
    ValuesRead,
)
from springtide.model.replicas.member import Member, Record
from springtide.model.replicas.values import Folder, within
from springtide.wire.errors import MalformedObject
from springtide.wire.replica_keys import Keys
from springtide.wire.replica_members import read_member, read_record
from springtide.wire.replica_status import read_status


class Part(Enum):
    """What can have changed, in the order in which it is told."""

    STATUS = auto()
    MEMBERS = auto()
    RECORDS = auto()
    LOCK = auto()
    NUMBERS = auto()
    VALUES = auto()


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """What was read of all spans at one revision: of each what is newer than its `since`."""

    revision: int
    found: tuple[Found, ...]
    since: tuple[int, ...]


class Mirror:
    """The keys, and what they mean; `seen` is up to which revision each span is known."""

    def __init__(self, keys: Keys, looked_at: tuple[Span, ...]) -> None:
        self._keys = keys
        self._fixed = looked_at
        self._folders: dict[Folder, str] = {}
        self.spans = looked_at
        self._held: tuple[dict[str, KeyValue], ...] = tuple({} for _ in looked_at)
        self._members: dict[str, Member] = {}
        self._seen = [ABSENT for _ in looked_at]

    def look_at(self, folders: Mapping[Folder, str]) -> None:
        """Look at the keys of these folders, too; of what was looked at before, what is known stays so."""
        known = dict(zip(self.spans, zip(self._held, self._seen, strict=True), strict=True))
        self._folders = dict(folders)
        self.spans = (*self._fixed, *folder_spans(self._folders.values()))
        kept = [known.get(each, ({}, ABSENT)) for each in self.spans]
        self._held, self._seen = tuple(held for held, _ in kept), [seen for _, seen in kept]

    @property
    def seen(self) -> tuple[int, ...]:
        """Return up to which revision each span is known."""
        return tuple(self._seen)

    def forget(self) -> None:
        """Trust nothing that is known: the next reading is one of everything."""
        self._seen = [ABSENT for _ in self.spans]

    def take(self, reading: Reading) -> bool:
        """Take in what was read, and return whether all is known by that.

        Something that was deleted unseen shows in the number of keys alone.
        """
        taken = [self._take(each, reading) for each in range(len(self.spans))]
        return all(taken)

    def see(self, events: Iterable[Happened]) -> set[Part]:
        """Take in what happened, and return what may have changed by it."""
        return {part for each in events if (part := self._see(each)) is not None}

    def lacks(self, key: str, revision: int) -> bool:
        """Return whether a key that was written at a revision is not there any more."""
        place = self._place(key)
        return place is not None and revision <= self._seen[place] and key not in self._held[place]

    @property
    def status(self) -> StatusRead | StatusDamaged:
        """Return the status as it is to be told."""
        return status_of(self._at(self._keys.status))

    @property
    def lock(self) -> LockRead:
        """Return who holds the lock."""
        return lock_of(self._at(self._keys.leader))

    @property
    def members(self) -> MembersRead:
        """Return all members in their order."""
        return MembersRead(tuple(sorted(self._members.values(), key=lambda e: (e.id, e.name))))

    @property
    def records(self) -> RecordsRead:
        """Return all records by number."""
        found: dict[int, Record] = {}
        for held in self._held:
            for key, kv in held.items():
                index = self._keys.index(key)
                if index is not None:
                    found[index] = read_record(kv.value)
        return RecordsRead(dict(sorted(found.items())))

    @property
    def numbers(self) -> NumbersRead:
        """Return who claimed which number."""
        found: dict[int, str] = {}
        for held in self._held:
            for key, kv in held.items():
                index = self._keys.claimed(key)
                if index is not None:
                    found[index] = kv.value.decode(errors="replace")
        return NumbersRead(dict(sorted(found.items())))

    @property
    def values(self) -> ValuesRead:
        """Return the values of all folders."""
        return ValuesRead({each: within(self._in(key)) for each, key in self._folders.items()})

    def _in(self, folder: str) -> dict[str, str]:
        """Return what lies in a folder, by subkey."""
        own, below = folder_spans([folder])
        return {
            key.removeprefix(own.key).removeprefix("/"): kv.value.decode(errors="replace")
            for span, held in zip(self.spans, self._held, strict=True)
            if span in (own, below)
            for key, kv in held.items()
        }

    def _take(self, place: int, reading: Reading) -> bool:
        held, found = self._held[place], reading.found[place]
        if self._seen[place] > reading.revision:
            # Events came meanwhile that are newer than the answer, so it brings nothing.
            return True
        if not reading.since[place]:
            for key in list(held):
                self._drop(held, key)
        for each in found.kvs:
            self._put(held, each)
        is_all = len(held) == found.count
        if is_all:
            self._seen[place] = reading.revision
        return is_all

    def _see(self, event: Happened) -> Part | None:
        key = event.kv.key.decode(errors="replace")
        place = self._place(key)
        if place is None or event.kv.mod_revision <= self._seen[place]:
            return None
        held = self._held[place]
        if event.type == DELETE:
            self._drop(held, key)
        else:
            self._put(held, event.kv)
        return self._part(key)

    def reach(self, watch: int, revision: int) -> None:
        """Know that a watch told all that there is up to a revision."""
        self._seen[watch] = max(self._seen[watch], revision)

    def _drop(self, held: dict[str, KeyValue], key: str) -> None:
        held.pop(key, None)
        self._members.pop(key, None)

    def _put(self, held: dict[str, KeyValue], kv: KeyValue) -> None:
        key = kv.key.decode(errors="replace")
        is_member = self._part(key) is Part.MEMBERS
        # The values of members are kept as members alone.
        held[key] = msgspec.structs.replace(kv, value=b"") if is_member else kv
        if not is_member:
            return
        try:
            self._members[key] = read_member(kv.value)
        except MalformedObject:
            self._members.pop(key, None)

    def _place(self, key: str) -> int | None:
        return next((at for at, span in enumerate(self.spans) if span.holds(key)), None)

    def _part(self, key: str) -> Part:
        if key == self._keys.status:
            return Part.STATUS
        if key == self._keys.leader:
            return Part.LOCK
        if key.startswith(self._keys.beside):
            return Part.NUMBERS if key.startswith(self._keys.numbers) else Part.RECORDS
        place = self._place(key)
        return Part.VALUES if place is not None and place >= len(self._fixed) else Part.MEMBERS

    def _at(self, key: str) -> KeyValue | None:
        return next((held[key] for held in self._held if key in held), None)


def status_of(kv: KeyValue | None) -> StatusRead | StatusDamaged:
    """Return a status as it is to be told."""
    if kv is None:
        return StatusRead(status=None)
    try:
        return StatusRead(status=read_status(kv.value), revision=kv.mod_revision)
    except MalformedObject as fault:
        return StatusDamaged(why=str(fault), revision=kv.mod_revision)


def lock_of(kv: KeyValue | None) -> LockRead:
    """Return a lock as it is to be told."""
    if kv is None:
        return LockRead(ABSENT)
    return LockRead(kv.mod_revision, kv.value.decode(errors="replace"))
