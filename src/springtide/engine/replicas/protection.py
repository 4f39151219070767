"""Who holds state, written down durably: a crash never lowers the floor.

A member's record stands from when it may serve until it is drained, until the next run of the same
number has said what it recovered, or until an operator releases it. A record whose member is gone
is a crash, or a partition, and never a drain.
"""

from collections.abc import Mapping
from typing import TypeAlias, assert_never

import msgspec
from msgspec.structs import replace

from springtide.model.replicas.member import Record


class Protection(msgspec.Struct, frozen=True, kw_only=True):
    """All records by number, who lives, and which loss has been told."""

    records: dict[int, Record] = {}
    living: frozenset[str] = frozenset()
    told: frozenset[str] = frozenset()


class Served(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A member may serve from now on."""

    index: int
    record: Record
    cause: str


class DrainedFully(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A run of a member says that it holds nothing any more."""

    index: int
    boot: str
    cause: str


class Recovered(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The next run of a number says what it has recovered: its state, or that there is none."""

    index: int
    record: Record
    holds_state: bool
    cause: str


class Released(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """An operator gives a number up, knowing that its state is lost or elsewhere."""

    index: int
    operator: str
    cause: str


class RecordsSeen(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """What the store holds."""

    records: dict[int, Record]
    cause: str


class MembersSeen(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Which runs live, by `boot`."""

    living: frozenset[str]
    cause: str


class PutRecord(msgspec.Struct, frozen=True):
    """Write this record."""

    index: int
    record: Record


class DeleteRecord(msgspec.Struct, frozen=True):
    """Delete the record of this run, and of no other."""

    index: int
    boot: str


class Audit(msgspec.Struct, frozen=True):
    """Keep this sentence where operators' deeds are kept."""

    words: str


class MemberLost(msgspec.Struct, frozen=True):
    """Tell the application that a member that may hold state is gone, and did not drain."""

    index: int
    record: Record


Event: TypeAlias = Served | DrainedFully | Recovered | Released | RecordsSeen | MembersSeen
Command: TypeAlias = PutRecord | DeleteRecord | Audit | MemberLost
Stepped: TypeAlias = tuple[Protection, tuple[Command, ...]]


def floor(records: Mapping[int, Record], ready_indexes: frozenset[int] = frozenset()) -> int:
    """Return the highest number that may hold state, by its label or by its record."""
    return max((0, *records, *ready_indexes))


def step(state: Protection, event: Event) -> Stepped:
    """Fold one event into the records; what the store shows is taken as it is."""
    match event:
        case Served(index=index, record=record):
            return _put(state, index, record)
        case DrainedFully(index=index, boot=boot):
            return _deleted(state, index, boot)
        case Recovered(index=index, record=record, holds_state=holds_state):
            return _recovered(state, index, record, holds_state=holds_state)
        case Released():
            return _released(state, event)
        case RecordsSeen(records=records):
            return _looked(replace(state, records=records))
        case MembersSeen(living=living):
            return _looked(replace(state, living=living))
        case _:
            assert_never(event)


def _put(state: Protection, index: int, record: Record) -> Stepped:
    """Keep the record of an earlier run: only that number's owner may say what became of it."""
    kept = state.records.get(index)
    if kept is not None and kept.boot != record.boot:
        return state, ()
    records = {**state.records, index: record}
    return replace(state, records=records), (PutRecord(index, record),)


def _deleted(state: Protection, index: int, boot: str) -> Stepped:
    kept = state.records.get(index)
    if kept is None or kept.boot != boot:
        return state, ()
    records = {each: record for each, record in state.records.items() if each != index}
    return replace(state, records=records), (DeleteRecord(index, boot),)


def _recovered(state: Protection, index: int, record: Record, *, holds_state: bool) -> Stepped:
    kept = state.records.get(index)
    if holds_state:
        records = {**state.records, index: record}
        return replace(state, records=records), (PutRecord(index, record),)
    return _deleted(state, index, kept.boot) if kept is not None else (state, ())


def _released(state: Protection, event: Released) -> Stepped:
    kept = state.records.get(event.index)
    if kept is None:
        words = f"{event.operator} released number {event.index}, which nothing protected."
        return state, (Audit(words),)
    state, commands = _deleted(state, event.index, kept.boot)
    words = f"{event.operator} released number {event.index}, which {kept.member} may have held."
    return state, (Audit(words), *commands)


def _looked(state: Protection) -> Stepped:
    """Tell each run once that has a record and does not live."""
    missing = {
        index: record for index, record in state.records.items() if record.boot not in state.living
    }
    told = frozenset(each.boot for each in missing.values())
    lost = tuple(
        MemberLost(index, record)
        for index, record in sorted(missing.items())
        if record.boot not in state.told
    )
    return replace(state, told=told), lost
