"""What programs and servers answer that are asked which members there are.

A number alone, or a document with `replicas` and, if they are known, `nodes` of `id`, `index` and `state`. A
member that has ended is left out.
"""

from collections import Counter
from typing import Final

import msgspec

from springtide.model.replicas.execution import Node, NodeState, Observation
from springtide.wire.errors import MalformedObject
from springtide.wire.validation import malformed

BYTES_MAX: Final = 1 << 20
REPLICAS_MAX: Final = 100_000


class _Node(msgspec.Struct, frozen=True):
    index: int
    id: str = ""
    state: NodeState = NodeState.RUNNING


class _Document(msgspec.Struct, frozen=True):
    replicas: int
    nodes: tuple[_Node, ...] = ()


def read_observation(data: bytes) -> Observation:
    """Return what is said, or raise MalformedObject."""
    if len(data) > BYTES_MAX:
        raise MalformedObject("", f"it has {len(data)} bytes; at most {BYTES_MAX} are read.")
    try:
        value = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as fault:
        raise MalformedObject("", "it is no JSON; write a number or a document.") from fault
    if isinstance(value, int) and not isinstance(value, bool):
        value = {"replicas": value}
    try:
        found = msgspec.convert(value, type=_Document)
    except msgspec.ValidationError as fault:
        raise malformed(fault, value) from fault
    return _checked(found)


def _checked(found: _Document) -> Observation:
    if not 0 <= found.replicas <= REPLICAS_MAX:
        reason = f"{found.replicas} cannot be; write 0 to {REPLICAS_MAX}."
        raise MalformedObject("replicas", reason)
    for place, node in enumerate(found.nodes):
        if node.index < 1:
            raise MalformedObject(f"nodes[{place}].index", "numbers count from 1; correct it.")
    twice = [
        index for index, count in Counter(each.index for each in found.nodes).items() if count > 1
    ]
    if twice:
        raise MalformedObject("nodes", f"the number {twice[0]} is there twice; name each once.")
    if found.nodes and len(found.nodes) != found.replicas:
        reason = (
            f"{len(found.nodes)} are listed where replicas says {found.replicas}; list all or none."
        )
        raise MalformedObject("nodes", reason)
    nodes = tuple(
        Node(id=each.id or str(each.index), index=each.index, state=each.state)
        for each in found.nodes
    )
    return Observation(replicas=found.replicas, nodes=nodes)
