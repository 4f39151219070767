"""What kube-scheduler asks an extender: the bodies of its calls.

Nodes that are sent whole are kept as they were sent, because an answer gives some of them back; of each
only the name is read. The pod is decoded once, to the model's record.
"""

from collections.abc import Generator
from functools import partial
from typing import Final

import msgspec

from springtide.model.pod import Pod
from springtide.wire.errors import DocumentFault, MalformedObject
from springtide.wire.extender import members as reading
from springtide.wire.extender.members import is_null
from springtide.wire.extender.walking import Astray, Buffer, Walk
from springtide.wire.k8s import Parts, decode_pod

BODY: Final = "the body"
NO_POD: Final = "extender args missing pod"


STEP_BYTES: Final = 1 << 20
"""So much of a text is gone through in a millisecond or two."""


class MalformedArguments(DocumentFault):
    """A call cannot be understood; the message says what is wrong with it."""


class Candidates(msgspec.Struct, frozen=True, kw_only=True):
    """The pod to place and the nodes that are left for it, by name and in the caller's order.

    `objects` are the nodes as they were sent, None where the caller only named them; `has_nodes` is False
    where it did neither.
    """

    pod: Pod
    names: tuple[str, ...]
    objects: tuple[msgspec.Raw, ...] | None = None
    has_nodes: bool = True


class BindingArguments(msgspec.Struct, frozen=True, kw_only=True):
    """Which pod is to be bound to which node."""

    name: str
    namespace: str
    uid: str
    node: str


class _Metadata(msgspec.Struct, frozen=True, gc=False):
    name: str = ""


class _Node(msgspec.Struct, frozen=True, gc=False):
    metadata: _Metadata = _Metadata()


_NODE: Final = msgspec.json.Decoder(_Node)
_Named = list[tuple[str, msgspec.Raw]]

_value: Final = partial(reading.value, complain=MalformedArguments)


def read_candidates(data: Buffer, parts: Parts) -> Candidates:
    """Return what a filter or prioritize call asks, or raise MalformedArguments."""
    steps = candidates_in_steps(data, parts)
    while True:
        try:
            next(steps)
        except StopIteration as done:
            found: Candidates = done.value
            return found


def candidates_in_steps(
    data: Buffer, parts: Parts, *, step_bytes: int = STEP_BYTES
) -> Generator[None, None, Candidates]:
    """Return the same, and yield wherever others may have their turn: whole nodes are much to read."""
    if len(data) > step_bytes:
        try:
            return (yield from _walked(data, parts, step_bytes))
        except (Astray, MalformedArguments, *reading.UNREADABLE):
            pass  # What is wrong is said by whoever reads all of it.
    return _read_at_once(data, parts)


def _walked(data: Buffer, parts: Parts, step_bytes: int) -> Generator[None, None, Candidates]:
    walk = Walk(data)
    members: dict[str, msgspec.Raw] = {}
    named: _Named | None = None
    for key in walk.members():
        if key != "nodes":
            members[key] = walk.value()
        else:
            named = None if walk.takes_null() else (yield from _nodes(walk, step_bytes))
        yield
    names = members.get("nodenames")
    if named is None or (names is not None and not is_null(names)):
        raise Astray("whole nodes are what is gone through")
    pod = members.get("pod")
    is_given = pod is not None and not is_null(pod)
    return Candidates(
        pod=_pod(pod if is_given else None, parts),
        names=tuple(name for name, _ in named),
        objects=tuple(each for _, each in named),
    )


def _nodes(walk: Walk, step_bytes: int) -> Generator[None, None, _Named]:
    """Return the nodes of the list that comes next; the last items of several count."""
    named: _Named = []
    for key in walk.members():
        if key != "items":
            walk.value()
            continue
        named, begun = [], walk.position
        if walk.takes_null():
            continue
        for each in walk.elements():
            named.append((_name(each), each))
            if walk.position - begun > step_bytes:
                begun = walk.position
                yield
    return named


def _read_at_once(data: Buffer, parts: Parts) -> Candidates:
    members = _members(data)
    pod = _pod(members.get("pod"), parts)
    nodes, names = members.get("nodes"), _value(members, "NodeNames", tuple[str, ...])
    if nodes is not None and names is not None:
        raise MalformedArguments("Nodes and NodeNames exclude each other: send one of them")
    if nodes is None:
        return Candidates(pod=pod, names=names or (), has_nodes=names is not None)
    objects = _objects(nodes)
    return Candidates(pod=pod, names=tuple(_name(each) for each in objects), objects=objects)


def read_binding(data: bytes) -> BindingArguments:
    """Return what a bind call asks, or raise MalformedArguments."""
    members = _members(data)
    said = {key: _value(members, key, str) or "" for key in ("PodName", "PodNamespace", "Node")}
    for key, text in said.items():
        if not text:
            raise MalformedArguments(f"extender binding args missing {key}")
    return BindingArguments(
        name=said["PodName"],
        namespace=said["PodNamespace"],
        uid=_value(members, "PodUID", str) or "",
        node=said["Node"],
    )


def _members(data: Buffer) -> dict[str, msgspec.Raw]:
    try:
        return reading.members(data, BODY, complain=MalformedArguments)
    except MalformedArguments:
        # Bodies may be large, so that they are looked at once more only where that did not do.
        first = reading.first(data, BODY, complain=_broken)
        return reading.members(first, BODY, complain=MalformedArguments)


def _broken(why: str) -> MalformedArguments:
    """Say it in words that people who know HAMi look for."""
    if why.endswith("is empty"):
        return MalformedArguments(f"EOF: {why}")
    if "truncated" in why:
        return MalformedArguments(f"unexpected EOF: {why}")
    return MalformedArguments(why)


def _pod(raw: msgspec.Raw | None, parts: Parts) -> Pod:
    if raw is None:
        raise MalformedArguments(NO_POD)
    try:
        return decode_pod(raw, parts)
    except (MalformedObject, *reading.UNREADABLE) as fault:
        raise MalformedArguments(f"Pod cannot be read: {fault}") from fault


def _objects(nodes: msgspec.Raw) -> tuple[msgspec.Raw, ...]:
    listed = reading.members(nodes, "Nodes", complain=MalformedArguments)
    return _value(listed, "items", tuple[msgspec.Raw, ...]) or ()


def _name(node: msgspec.Raw) -> str:
    try:
        name = _NODE.decode(node).metadata.name
    except reading.UNREADABLE as fault:
        raise MalformedArguments(f"a node of Nodes cannot be read: {fault}") from fault
    if not name:
        raise MalformedArguments("a node of Nodes has no name")
    return name
