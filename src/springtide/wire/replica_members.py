"""A member of a workload, and a record, as they lie in a store that members old and new read.

Older members write what they are as one document with labels and annotations, ids as numbers or as texts. What
they have no field for, ours keep in annotations. Labels that are ours never come from the application.
"""

from typing import Final, TypeVar

import msgspec

from springtide.model.replicas.member import READY_LABEL, TARGET_LABEL, Member, Record
from springtide.model.replicas.workload import Workload
from springtide.wire.errors import MalformedObject
from springtide.wire.validation import malformed

BYTES_MAX: Final = 64 * 1024
HAS_ORDINAL: Final = "hpa_with_pod_index"
NAME: Final = "hpa_target_name"
KIND: Final = "hpa_target_kind"
API_VERSION: Final = "hpa_target_api_version"
_OURS: Final = frozenset({TARGET_LABEL, READY_LABEL, HAS_ORDINAL, NAME, KIND, API_VERSION})
_INDEX: Final = "hpa_member_index"
_STARTED: Final = "hpa_member_started_ms"
_STOPPING: Final = "hpa_member_stopping"
_WHOLE: Final = {False: "0", True: "1"}
_ID_MAX: Final = 2**64 - 1

T = TypeVar("T")


class _Metadata(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    namespace_name: str = ""
    api_version: str = ""
    kind: str = ""
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}


class _Document(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    id: int
    name: str
    identity: str = ""
    listen: list[str] = []
    type_id: int = 0
    type_name: str = ""
    metadata: _Metadata = _Metadata()


class _Record(msgspec.Struct, frozen=True, kw_only=True):
    member: str = ""
    boot: str = ""
    at_ms: int = 0


def write_member(member: Member, workload: Workload, *, type_id: int = 0) -> bytes:
    """Return the document."""
    metadata = _Metadata(
        namespace_name=workload.service_namespace,
        api_version=workload.api_version,
        kind=workload.kind,
        labels=_labels(member, workload),
        annotations=_annotations(member),
    )
    return msgspec.json.encode(
        _Document(
            id=member.id,
            name=member.name,
            identity=member.boot,
            listen=[member.address] if member.address else [],
            type_id=type_id,
            type_name=member.service,
            metadata=metadata,
        )
    )


def read_member(data: bytes) -> Member:
    """Return the member, or raise MalformedObject."""
    # Numbers may be texts, and an annotation is always one.
    found = _decoded(data, _Document, "member")
    if not 0 <= found.id <= _ID_MAX:
        raise MalformedObject("id", f"{found.id} is not within 0 and {_ID_MAX}; correct it.")
    labels, annotations = found.metadata.labels, found.metadata.annotations
    return Member(
        id=found.id,
        name=found.name,
        has_ordinal=labels.get(HAS_ORDINAL) == "1",
        started_ms=_number(annotations, _STARTED) or 0,
        is_stopping=annotations.get(_STOPPING) == "1",
        index=_number(annotations, _INDEX),
        boot=found.identity,
        service=found.type_name,
        target=labels.get(NAME, ""),
        address=found.listen[0] if found.listen else "",
        is_target=labels.get(TARGET_LABEL) == "1",
        is_ready=labels.get(READY_LABEL) == "1",
        labels={key: value for key, value in labels.items() if key not in _OURS},
    )


def write_record(record: Record) -> bytes:
    """Return the document of a record."""
    return msgspec.json.encode(_Record(member=record.member, boot=record.boot, at_ms=record.at_ms))


def read_record(data: bytes) -> Record:
    """Return a record; one that cannot be read protects still, though nobody knows whom."""
    try:
        found = _decoded(data, _Record, "record")
    except MalformedObject:
        found = _Record()
    return Record(member=found.member, boot=found.boot, at_ms=found.at_ms)


def _labels(member: Member, workload: Workload) -> dict[str, str]:
    said = {
        NAME: member.target or workload.name,
        KIND: workload.kind,
        API_VERSION: workload.api_version,
    }
    return {
        **{key: value for key, value in member.labels.items() if key not in _OURS},
        **{key: value for key, value in said.items() if value},
        HAS_ORDINAL: _WHOLE[member.has_ordinal],
        TARGET_LABEL: _WHOLE[member.is_target],
        READY_LABEL: _WHOLE[member.is_ready],
    }


def _annotations(member: Member) -> dict[str, str]:
    said = {
        _STARTED: str(member.started_ms) if member.started_ms else "",
        _INDEX: "" if member.index is None else str(member.index),
        _STOPPING: "1" if member.is_stopping else "",
    }
    return {key: value for key, value in said.items() if value}


def _number(annotations: dict[str, str], name: str) -> int | None:
    text = annotations.get(name)
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) <= len(str(_ID_MAX))):
        raise MalformedObject(
            f'metadata.annotations["{name}"]', f'"{text}" is no whole number; correct it.'
        )
    return int(text)


def _decoded(data: bytes, kind: type[T], what: str) -> T:
    if len(data) > BYTES_MAX:
        raise MalformedObject(
            "", f"the {what} has {len(data)} bytes; at most {BYTES_MAX} are read."
        )
    try:
        value = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as fault:
        raise MalformedObject(
            "", f"the {what} is no JSON; whoever wrote it writes it again."
        ) from fault
    try:
        return msgspec.convert(value, type=kind, strict=False)
    except msgspec.ValidationError as fault:
        raise malformed(fault, value) from fault
