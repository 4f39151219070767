"""Turns serialized trees into nodes and back: the field numbers of the `cel.expr` schema."""

from collections.abc import Callable, Mapping
from typing import Final, assert_never

import msgspec

from springtide.wire.cel import tree
from springtide.wire.cel.tree import part, parts

_PARSED: Final = "type.googleapis.com/cel.expr.ParsedExpr"

DYNAMIC: Final = "dyn"

_KINDS: Final = {1: DYNAMIC, 2: "null", 6: "list", 7: "map", 11: "type"}
_PRIMITIVES: Final = ("", "bool", "int", "uint", "double", "string", "bytes")
_WELL_KNOWN: Final = ("", "any", "timestamp", "duration")
_PRIMITIVE: Final = 3
_ABSTRACT: Final = 14
_NAMED: Final = (9, _ABSTRACT)


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """A checked expression: its tree, the serialized type and the offset in the text of each node."""

    root: tree.Node
    types: Mapping[int, bytes]
    offsets: Mapping[int, int]

    def kind(self, node: tree.Node) -> str:
        """Return the name of a node's type, without what it contains; `dyn` where it is unknown."""
        for number, _, value in parts(self.types.get(node.id, b"")):
            if isinstance(value, int):
                return (_PRIMITIVES if number == _PRIMITIVE else _WELL_KNOWN)[value]
            if number in _NAMED:
                return _text(value, 1) if number == _ABSTRACT else value.decode()
            return _KINDS.get(number, DYNAMIC)
        return DYNAMIC


def checked(serialized: bytes) -> Checked:
    """Read a serialized checked expression."""
    fields = _grouped(_bytes(serialized, 2))
    (source,) = fields.get(5, [b""])
    return Checked(
        root=_node(fields[4][0]),
        types={_number(entry, 1): _bytes(entry, 2) for entry in fields.get(3, [])},
        offsets={_number(entry, 1): _number(entry, 2) for entry in _grouped(source).get(4, [])},
    )


def parsed(root: tree.Node) -> bytes:
    """Serialize a tree as a parsed expression, which carries no types."""
    return part(1, _PARSED) + part(2, part(2, _serialized(root)))


def _node(data: bytes) -> tree.Node:
    id_, kind, body = 0, 0, b""
    for number, _, value in parts(data):
        if isinstance(value, int):
            id_ = value
        else:
            kind, body = number, value
    return _READERS[kind](id_, body)


def _name(id_: int, body: bytes) -> tree.Name:
    return tree.Name(id_, _text(body, 1))


def _select(id_: int, body: bytes) -> tree.Select:
    return tree.Select(
        id=id_,
        operand=_node(_bytes(body, 1)),
        field=_text(body, 2),
        is_test=bool(_number(body, 3)),
    )


def _call(id_: int, body: bytes) -> tree.Call:
    fields = _grouped(body)
    target = fields.get(1)
    return tree.Call(
        id=id_,
        function=_text(body, 2),
        arguments=tuple(map(_node, fields.get(3, []))),
        target=_node(target[0]) if target else None,
    )


def _list(id_: int, body: bytes) -> tree.ListLiteral:
    return tree.ListLiteral(
        id=id_,
        elements=tuple(map(_node, _grouped(body).get(1, []))),
        rest=_rest(body, known=(1,)),
    )


def _map(id_: int, body: bytes) -> tree.MapLiteral:
    entries = tuple(map(_entry, _grouped(body).get(2, [])))
    return tree.MapLiteral(id=id_, entries=entries, rest=_rest(body, known=(2,)))


def _entry(data: bytes) -> tree.Entry:
    fields = _grouped(data)
    key = fields.get(3)
    return tree.Entry(
        value=_node(fields[4][0]),
        key=_node(key[0]) if key else None,
        rest=_rest(data, known=(3, 4)),
    )


def _loop(id_: int, body: bytes) -> tree.Loop:
    second = _text(body, 8)
    return tree.Loop(
        id=id_,
        variables=(_text(body, 1), second) if second else (_text(body, 1),),
        accumulator=_text(body, 3),
        over=_node(_bytes(body, 2)),
        start=_node(_bytes(body, 4)),
        condition=_node(_bytes(body, 5)),
        step=_node(_bytes(body, 6)),
        result=_node(_bytes(body, 7)),
        rest=_rest(body, known=(1, 2, 3, 4, 5, 6, 7, 8)),
    )


_READERS: Final[Mapping[int, Callable[[int, bytes], tree.Node]]] = {
    3: tree.Constant, 4: _name, 5: _select, 6: _call, 7: _list, 8: _map, 9: _loop,
}  # fmt: skip
_KIND_NUMBERS: Final[Mapping[type, int]] = {
    tree.Constant: 3, tree.Name: 4, tree.Select: 5, tree.Call: 6, tree.ListLiteral: 7,
    tree.MapLiteral: 8, tree.Loop: 9,
}  # fmt: skip


def _serialized(node: tree.Node) -> bytes:
    return part(2, node.id) + part(_KIND_NUMBERS[type(node)], _body(node))


def _body(node: tree.Node) -> bytes:
    match node:
        case tree.Constant():
            body = node.body
        case tree.Name():
            body = part(1, node.name)
        case tree.Select():
            test = part(3, 1) if node.is_test else b""
            body = part(1, _serialized(node.operand)) + part(2, node.field) + test
        case tree.Call():
            target = b"" if node.target is None else part(1, _serialized(node.target))
            body = target + part(2, node.function) + _repeated(3, node.arguments)
        case tree.ListLiteral():
            body = _repeated(1, node.elements) + node.rest
        case tree.MapLiteral():
            body = node.rest + b"".join(part(2, _entry_body(entry)) for entry in node.entries)
        case tree.Loop():
            body = _loop_body(node)
        case _:
            assert_never(node)
    return body


def _entry_body(entry: tree.Entry) -> bytes:
    key = b"" if entry.key is None else part(3, _serialized(entry.key))
    return entry.rest + key + part(4, _serialized(entry.value))


def _loop_body(loop: tree.Loop) -> bytes:
    second = part(8, loop.variables[1]) if len(loop.variables) > 1 else b""
    return (
        part(1, loop.variables[0])
        + part(2, _serialized(loop.over))
        + part(3, loop.accumulator)
        + part(4, _serialized(loop.start))
        + part(5, _serialized(loop.condition))
        + part(6, _serialized(loop.step))
        + part(7, _serialized(loop.result))
        + second
        + loop.rest
    )


def _repeated(number: int, nodes: tuple[tree.Node, ...]) -> bytes:
    return b"".join(part(number, _serialized(node)) for node in nodes)


def _grouped(data: bytes) -> dict[int, list[bytes]]:
    grouped: dict[int, list[bytes]] = {}
    for number, _, value in parts(data):
        if isinstance(value, bytes):
            grouped.setdefault(number, []).append(value)
    return grouped


def _bytes(data: bytes, number: int) -> bytes:
    return next((v for n, _, v in parts(data) if n == number and isinstance(v, bytes)), b"")


def _text(data: bytes, number: int) -> str:
    return _bytes(data, number).decode()


def _number(data: bytes, number: int) -> int:
    return next((v for n, _, v in parts(data) if n == number and isinstance(v, int)), 0)


def _rest(data: bytes, *, known: tuple[int, ...]) -> bytes:
    kept = [found for found in parts(data) if found[0] not in known]
    return b"".join(part(number, value) for number, _, value in kept)
