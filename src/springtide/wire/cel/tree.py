"""The syntax tree of an expression, read from and written to the library's serialized form.

That form is the public `cel.expr` protocol buffer schema; the few messages of it that we need are
read here by hand, because a protocol buffer package would cost more to load than all of this does.
Parts that nobody here looks at are kept as they came.
"""

from collections.abc import Iterator
from typing import Final

import msgspec

_VARINT: Final = 0
_FIXED64: Final = 1
_DELIMITED: Final = 2
_FIXED32: Final = 5
_FIXED_SIZES: Final = {_FIXED64: 8, _FIXED32: 4}

_LOW_BITS: Final = 0x7F
_MORE: Final = 0x80
_INTEGER_CONSTANT: Final = 3
_STRING_CONSTANT: Final = 6
_BYTES_CONSTANT: Final = 7
_WORDS: Final = 2**64


class Constant(msgspec.Struct, frozen=True):
    """A literal; `body` is its serialized form."""

    id: int
    body: bytes

    @property
    def text(self) -> str | None:
        """Return the text of a string literal, None for any other literal."""
        for number, _, value in parts(self.body):
            if number == _STRING_CONSTANT and isinstance(value, bytes):
                return value.decode()
        return None


class Name(msgspec.Struct, frozen=True):
    """A variable."""

    id: int
    name: str


class Select(msgspec.Struct, frozen=True, kw_only=True):
    """`operand.field`, or `has(operand.field)` if it is a test."""

    id: int
    operand: "Node"
    field: str
    is_test: bool = False


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """A function or operator with its arguments; `target` is what a method is called on."""

    id: int
    function: str
    arguments: tuple["Node", ...] = ()
    target: "Node | None" = None


class ListLiteral(msgspec.Struct, frozen=True, kw_only=True):
    """`[a, b]`."""

    id: int
    elements: tuple["Node", ...] = ()
    rest: bytes = b""


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One `key: value` of a map; a message's field has no key."""

    value: "Node"
    key: "Node | None" = None
    rest: bytes = b""


class MapLiteral(msgspec.Struct, frozen=True, kw_only=True):
    """`{a: b}`, or a message if `rest` names one."""

    id: int
    entries: tuple[Entry, ...] = ()
    rest: bytes = b""


class Loop(msgspec.Struct, frozen=True, kw_only=True):
    """What a macro such as `exists` or `cel.bind` stands for: a fold over a range."""

    id: int
    variables: tuple[str, ...]
    accumulator: str
    over: "Node"
    start: "Node"
    condition: "Node"
    step: "Node"
    result: "Node"
    rest: bytes = b""


Node = Constant | Name | Select | Call | ListLiteral | MapLiteral | Loop


def children(node: Node) -> tuple[Node, ...]:
    """Return the nodes directly below this one."""
    match node:
        case Constant() | Name():
            return ()
        case Select():
            return (node.operand,)
        case Call():
            return node.arguments if node.target is None else (node.target, *node.arguments)
        case ListLiteral():
            return node.elements
        case MapLiteral():
            keys = (entry.key for entry in node.entries if entry.key is not None)
            return (*keys, *(entry.value for entry in node.entries))
        case Loop():
            return (node.over, node.start, node.condition, node.step, node.result)


def walk(node: Node) -> Iterator[Node]:
    """Return this node and all below it."""
    yield node
    for child in children(node):
        yield from walk(child)


def parts(data: bytes) -> Iterator[tuple[int, int, int | bytes]]:
    """Return the fields of a message: number, wire type and value."""
    position = 0
    while position < len(data):
        tag, position = _varint(data, position)
        number, wire = tag >> 3, tag & 7
        if wire == _VARINT:
            value, position = _varint(data, position)
            yield number, wire, value
            continue
        size = _FIXED_SIZES.get(wire)
        if size is None:
            size, position = _varint(data, position)
        yield number, wire, data[position : position + size]
        position += size


def part(number: int, value: int | str | bytes) -> bytes:
    """Return one serialized field: a number, a text, or a message's bytes."""
    if isinstance(value, int):
        return _written(number << 3 | _VARINT) + _written(value)
    body = value.encode() if isinstance(value, str) else value
    return _written(number << 3 | _DELIMITED) + _written(len(body)) + body


def _varint(data: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & _LOW_BITS) << shift
        if byte <= _LOW_BITS:
            return value, position
        shift += 7


def _written(value: int) -> bytes:
    written = bytearray()
    while value > _LOW_BITS:
        written.append(value & _LOW_BITS | _MORE)
        value >>= 7
    written.append(value)
    return bytes(written)


TRUE: Final = part(2, 1)


def text(value: str) -> bytes:
    """Return the body of a string literal."""
    return part(_STRING_CONSTANT, value)


def integer(value: int) -> bytes:
    """Return the body of a literal of a whole number of 64 bits."""
    return part(_INTEGER_CONSTANT, value % _WORDS)


def data(value: bytes) -> bytes:
    """Return the body of a literal of bytes."""
    return part(_BYTES_CONSTANT, value)
