"""The status document of a workload's replicas, as members old and new write and read it.

Older members write seven fields, times as texts or as seconds and nanoseconds, and ids as numbers
or as texts; all are read. A document replaces the one before it whole: what it lacks is not taken
from there. One of a newer schema, or one that is damaged, is a fault, and whoever reads it keeps
the last good one.
"""

from datetime import UTC, datetime, timedelta
from typing import Final

import msgspec

from springtide.model.replicas.status import Status
from springtide.wire.errors import MalformedObject
from springtide.wire.validation import malformed

SCHEMA: Final = 2
BYTES_MAX: Final = 64 * 1024

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)
_SECOND_MS: Final = 1000
_MS_NS: Final = 1_000_000
_MS_MAX: Final = 253_402_300_799_999
"""The end of the year 9999."""


class _Moment(msgspec.Struct, frozen=True):
    seconds: int | str = 0
    nanos: int = 0


class _Document(msgspec.Struct, frozen=True, kw_only=True):
    current_replicas: int = 0
    expect_replicas: int = 0
    expect_replicate_start_timepoint: str | _Moment = _Moment()
    expect_replicate_end_timepoint: str | _Moment = _Moment()
    expect_scaling_timepoint: str | _Moment = _Moment()
    controller_node_id: int | str = 0
    controller_node_name: str = ""
    generation: int = 0
    reason: str = ""
    written_at: str | _Moment = _Moment()
    schema: int = 1


def read_status(data: bytes) -> Status:
    """Return the status, or raise MalformedObject."""
    if len(data) > BYTES_MAX:
        raise MalformedObject(
            "", f"the status has {len(data)} bytes; at most {BYTES_MAX} are read."
        )
    try:
        value = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as fault:
        raise MalformedObject("", "the status is no JSON; the leader writes it again.") from fault
    try:
        found = msgspec.convert(value, type=_Document)
    except msgspec.ValidationError as fault:
        raise malformed(fault, value) from fault
    if found.schema > SCHEMA:
        reason = f"{found.schema} is newer than {SCHEMA}, which is read here; upgrade this member."
        raise MalformedObject("schema", reason)
    return _status(found)


def write_status(status: Status, *, has_objects: bool = False) -> bytes:
    """Return the document; with `has_objects` its times are as older writers have them."""

    def moment(at_ms: int) -> str | _Moment:
        seconds, ms = divmod(at_ms, _SECOND_MS)
        if has_objects:
            return _Moment(seconds, ms * _MS_NS)
        text = (_EPOCH + at_ms * _MILLISECOND).strftime("%Y-%m-%dT%H:%M:%S")
        return f"{text}.{ms:03}Z" if ms else f"{text}Z"

    return msgspec.json.encode(
        _Document(
            current_replicas=status.current,
            expect_replicas=status.expect,
            expect_replicate_start_timepoint=moment(status.start_ms),
            expect_replicate_end_timepoint=moment(status.end_ms),
            expect_scaling_timepoint=moment(status.scaling_ms),
            controller_node_id=status.controller_id,
            controller_node_name=status.controller_name,
            generation=status.generation,
            reason=status.reason,
            written_at=moment(status.written_ms),
            schema=SCHEMA,
        )
    )


def has_object_times(data: bytes) -> bool:
    """Return whether a document has its times as older writers may have them, to write it so again."""
    try:
        found = msgspec.json.decode(data, type=_Document)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    moment = found.expect_scaling_timepoint
    return isinstance(moment, _Moment) and moment != _Moment()


def _status(found: _Document) -> Status:
    return Status(
        current=found.current_replicas,
        expect=found.expect_replicas,
        start_ms=_ms("expect_replicate_start_timepoint", found.expect_replicate_start_timepoint),
        end_ms=_ms("expect_replicate_end_timepoint", found.expect_replicate_end_timepoint),
        scaling_ms=_ms("expect_scaling_timepoint", found.expect_scaling_timepoint),
        generation=found.generation,
        controller_id=_whole("controller_node_id", found.controller_node_id),
        controller_name=found.controller_node_name,
        reason=found.reason,
        written_ms=_ms("written_at", found.written_at),
    )


def _ms(field: str, value: str | _Moment) -> int:
    if isinstance(value, _Moment):
        found = _whole(field, value.seconds) * _SECOND_MS + value.nanos // _MS_NS
    else:
        found = (_moment(field, value) - _EPOCH) // _MILLISECOND
    if not 0 <= found <= _MS_MAX:
        raise MalformedObject(field, "this time is before 1970 or after 9999; correct it.")
    return found


def _moment(field: str, text: str) -> datetime:
    try:
        found = datetime.fromisoformat(text)
    except ValueError as fault:
        raise MalformedObject(field, f'"{text}" is no time; correct it.') from fault
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def _whole(field: str, value: int | str) -> int:
    if isinstance(value, int):
        return value
    if not (value.isascii() and value.isdecimal() and len(value) <= len(str(2**64))):
        raise MalformedObject(field, f'"{value}" is no whole number; correct it.')
    return int(value)
