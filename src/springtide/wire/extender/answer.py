"""What an extender answers to a filter call.

Read as kube-scheduler reads it: keys of the protocol's own types in any case, the last one of
several counts, null is absent, unknown keys are passed over, and what follows the first JSON value
is not looked at. Of a node that comes back only its name counts. Which names may come back, the
caller knows.
"""

from collections.abc import Mapping
from functools import partial
from typing import Final

import msgspec

from springtide.wire.errors import DocumentFault
from springtide.wire.extender import members as reading


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


_value: Final = partial(reading.value, complain=MalformedAnswer)


class _Metadata(msgspec.Struct, frozen=True):
    name: str = ""


class _Node(msgspec.Struct, frozen=True):
    metadata: _Metadata = _Metadata()


def read_answer(data: bytes, *, by_name: bool) -> Answer:
    """Return the answer to a call that named its nodes (`by_name`) or sent them whole.

    Raises MalformedAnswer.
    """
    what = "the answer"
    first = reading.first(data, what, complain=MalformedAnswer)
    members = reading.members(first, what, complain=MalformedAnswer)
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
    listed = reading.members(nodes, "Nodes", complain=MalformedAnswer)
    items = _value(listed, "items", tuple[_Node, ...]) or ()
    return tuple(node.metadata.name for node in items)
