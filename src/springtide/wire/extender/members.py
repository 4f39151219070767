"""JSON as Go's decoder reads the types of the extender protocol.

Keys in any case, the last one of several counts, null is absent, unknown keys are passed over, and what
follows the first JSON value is not looked at.
"""

from collections.abc import Callable, Mapping
from typing import Final, TypeVar

import msgspec

from springtide.wire.errors import DocumentFault
from springtide.wire.json_faults import end_of_first

T = TypeVar("T")

Complain = Callable[[str], DocumentFault]
"""Makes the fault that is raised, from what is wrong."""

UNREADABLE: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""What a decoder raises for a text that is not what it should be."""

_MEMBERS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_NULL: Final = b"null"


def members(
    data: bytes | bytearray | msgspec.Raw, what: str, *, complain: Complain
) -> dict[str, msgspec.Raw]:
    """Return the members of an object by lower-case key, but for those that are null."""
    if bytes(memoryview(data)[:8]).strip() == _NULL:
        return {}
    try:
        found = _MEMBERS.decode(data)
    except UNREADABLE as fault:
        raise complain(f"{what} is not a JSON object") from fault
    return {key.lower(): raw for key, raw in found.items() if not is_null(raw)}


def is_null(raw: msgspec.Raw) -> bool:
    """Return whether a value says nothing; it may be large, so it is not copied."""
    view = memoryview(raw)
    return len(view) == len(_NULL) and bytes(view) == _NULL


def first(data: bytes | bytearray, what: str, *, complain: Complain) -> bytes | bytearray:
    """Return the first JSON value of the text, without what follows it."""
    if not data.strip():
        raise complain(f"{what} is empty")
    try:
        msgspec.json.decode(data, type=msgspec.Raw)
    except UNREADABLE as fault:
        end = end_of_first(fault)
        if end is None:
            raise complain(f"{what} is not JSON: {fault}") from fault
        return data[:end]
    return data


def value(
    found: Mapping[str, msgspec.Raw], key: str, of: type[T], *, complain: Complain
) -> T | None:
    """Return a member as this type, None if it is absent or null."""
    raw = found.get(key.lower())
    if raw is None:
        return None
    try:
        return msgspec.json.decode(raw, type=of)
    except UNREADABLE as fault:
        raise complain(f"{key} cannot be read: {fault}") from fault
