"""What an extender answers to a filter call.

Read as kube-scheduler reads it: keys of the protocol's own types in any case, the last one of
several counts, null is absent, unknown keys are passed over, and what follows the first JSON value
is not looked at. Of a node that comes back only its name counts. Which names may come back, the
caller knows.
"""

from collections.abc import Mapping
from typing import Final, TypeVar

import msgspec

from springtide.wire.errors import DocumentFault
from springtide.wire.json_faults import end_of_first

T = TypeVar("T")

_MEMBERS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_NULL: Final = b"null"


class MalformedAnswer(DocumentFault):
    """The answer cannot be understood; the message says what is wrong with it."""


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The nodes that pass, by name and in the order of the answer, and why others do not.

    Where a node is in both maps, evicting pods does not help. A text in `error` means that the call
    as a whole has failed.
    """

    kept: tuple[str, ...] = ()
    failed: Mapping[str, str] = {}
    unresolvable: Mapping[str, str] = {}
    error: str = ""


class _Metadata(msgspec.Struct, frozen=True):
    name: str = ""


class _Node(msgspec.Struct, frozen=True):
    metadata: _Metadata = _Metadata()


def read_answer(data: bytes, *, by_name: bool) -> Answer:
    """Return the answer to a call that named its nodes (`by_name`) or sent them whole.

    Raises MalformedAnswer.
    """
    members = _members(_first(data), "the answer")
    return Answer(
        kept=_kept(members, by_name=by_name),
        failed=_value(members, "FailedNodes", dict[str, str]) or {},
        unresolvable=_value(members, "FailedAndUnresolvableNodes", dict[str, str]) or {},
        error=_value(members, "Error", str) or "",
    )


def _kept(members: Mapping[str, msgspec.Raw], *, by_name: bool) -> tuple[str, ...]:
    """Return the names of the nodes that pass, from the list that kube-scheduler would read."""
    names = _value(members, "NodeNames", tuple[str, ...]) if by_name else None
    if names is not None:
        return names
    nodes = members.get("nodes")
    if nodes is None:
        return ()
    listed = _members(bytes(nodes), "Nodes")
    items = _value(listed, "items", tuple[_Node, ...]) or ()
    return tuple(node.metadata.name for node in items)


def _first(data: bytes) -> bytes:
    """Return the first JSON value of the text, without what follows it."""
    if not data.strip():
        raise MalformedAnswer("the answer is empty")
    try:
        msgspec.json.decode(data, type=msgspec.Raw)
    except msgspec.DecodeError as fault:
        end = end_of_first(fault)
        if end is None:
            raise MalformedAnswer(f"the answer is not JSON: {fault}") from fault
        return data[:end]
    return data


def _members(data: bytes, what: str) -> dict[str, msgspec.Raw]:
    """Return the members of an object by lower-case key, but for those that are null."""
    if data.strip() == _NULL:
        return {}
    try:
        found = _MEMBERS.decode(data)
    except msgspec.DecodeError as fault:
        raise MalformedAnswer(f"{what} is not a JSON object") from fault
    return {key.lower(): raw for key, raw in found.items() if bytes(raw) != _NULL}


def _value(members: Mapping[str, msgspec.Raw], key: str, of: type[T]) -> T | None:
    raw = members.get(key.lower())
    if raw is None:
        return None
    try:
        return msgspec.json.decode(raw, type=of)
    except msgspec.DecodeError as fault:
        raise MalformedAnswer(f"{key} cannot be read: {fault}") from fault
