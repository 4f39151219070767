"""Rewrites a checked tree into what the library computes as Kubernetes' evaluator would.

- `device.attributes["a.com"]` becomes a variable of its own, so that only the domains that an
  expression names are handed over, and a domain that a device lacks is an empty map.
- A version compared with anything but a version is a fault in Kubernetes, not unequal.
- `find`, `findAll` and `includes` become functions that the library has.
"""

from collections.abc import Callable
from itertools import count
from typing import Final

import msgspec
from msgspec.structs import replace

from springtide.wire.cel import patterns, tree
from springtide.wire.cel.environment import FAULT, LIMITED
from springtide.wire.cel.syntax import DYNAMIC, Checked
from springtide.wire.cel.tree import Call, ListLiteral, Node
from springtide.wire.cel.variables import domain_variable

DOMAINS: Final = ("device.attributes", "device.capacity")
RANGE_MAX: Final = 10_000

_NO_OVERLOAD: Final = (
    "no such overload: a version can only be compared with a version, by its methods or =="
)
_VERSION: Final = "kubernetes.Semver"
_NULL: Final = "null"
_ACCESSES: Final = ("_[_]", "_[?_]", "_?._", "orValue", "value")


class Rewritten(msgspec.Struct, frozen=True):
    """A tree that can be computed, and the variables that it reads."""

    root: Node
    variables: frozenset[str]


def rewritten(expression: Checked) -> Rewritten:
    """Return the tree that can be computed."""
    root = _Rewriter(expression).node(expression.root)
    names = (node.name for node in tree.walk(root) if isinstance(node, tree.Name))
    return Rewritten(root, frozenset(name for name in names if name.startswith("device.")))


class _Rewriter:
    """Goes through one tree from its leaves up; new nodes get ids that no other node has."""

    def __init__(self, expression: Checked) -> None:
        self._expression = expression
        self._ids = count(1 + max(node.id for node in tree.walk(expression.root)))
        self._aliases: dict[str, str] = {}
        self._rules: dict[str, Callable[[Call], Node]] = {
            "_[_]": self._index,
            "_[?_]": self._optional_index,
            "_?._": self._optional_index,
            "_==_": self._equality,
            **dict.fromkeys(("_<_", "_<=_", "_>_", "_>=_"), self._comparison),
            "@in": self._membership,
            "find": self._find,
            "findAll": self._find_all,
            "includes": self._includes,
            "lists.range": self._range,
        }

    def node(self, node: Node) -> Node:
        match node:
            case tree.Constant() | tree.Name():
                return node
            case tree.Select():
                return self._selected(replace(node, operand=self.node(node.operand)))
            case Call():
                return self._called(node)
            case ListLiteral():
                return replace(node, elements=tuple(map(self.node, node.elements)))
            case tree.MapLiteral():
                return replace(node, entries=tuple(map(self._entry, node.entries)))
            case tree.Loop():
                return self._looped(node)

    def _called(self, call: Call) -> Node:
        below = replace(
            call,
            target=None if call.target is None else self.node(call.target),
            arguments=tuple(map(self.node, call.arguments)),
        )
        rule = self._rules.get(call.function)
        return below if rule is None else rule(below)

    def _entry(self, entry: tree.Entry) -> tree.Entry:
        key = None if entry.key is None else self.node(entry.key)
        return replace(entry, key=key, value=self.node(entry.value))

    def _looped(self, loop: tree.Loop) -> tree.Loop:
        start = self.node(loop.start)
        over, condition, step = map(self.node, (loop.over, loop.condition, loop.step))
        # `cel.bind(all, device.attributes, ...)` gives the map another name.
        field = self._field(start)
        if field is not None:
            self._aliases[loop.accumulator] = field
        result = self.node(loop.result)
        self._aliases.pop(loop.accumulator, None)
        return replace(loop, over=over, start=start, condition=condition, step=step, result=result)

    def _selected(self, select: tree.Select) -> Node:
        field = self._field(select.operand)
        if field is None:
            return self._presence(select) if select.is_test else select
        if select.is_test:
            return tree.Constant(select.id, tree.TRUE)
        return tree.Name(select.id, domain_variable(field, select.field))

    def _presence(self, select: tree.Select) -> Node:
        """Let `has` on what is no map be false; the library calls it an error."""
        if not self._may_be_version(select.operand):
            return select
        kind = self._call("type", select.operand)
        return self._call("_&&_", self._call("_==_", kind, self._name("map")), select)

    def _index(self, call: Call) -> Node:
        over, key = call.arguments
        field = self._field(over)
        if field is None:
            return call
        if isinstance(key, tree.Constant) and key.text is not None:
            return tree.Name(call.id, domain_variable(field, key.text))
        return self._or_empty(replace(call, function="_[?_]"))

    def _optional_index(self, call: Call) -> Node:
        is_domain = self._field(call.arguments[0]) is not None
        return self._call("optional.of", self._or_empty(call)) if is_domain else call

    def _or_empty(self, found: Call) -> Call:
        empty = tree.MapLiteral(id=next(self._ids))
        return self._call("orValue", empty, target=found)

    def _equality(self, call: Call) -> Node:
        left, right = call.arguments
        kind = self._expression.kind(right)
        if kind in (_VERSION, _NULL) or not self._may_be_version(left):
            return call
        if kind != DYNAMIC:
            return self._unless_version(left, call)
        if not self._is_access(right):
            return call
        other = self._call("!_", self._is_bytes(right))
        return self._unless(self._call("_&&_", self._is_bytes(left), other), call)

    def _comparison(self, call: Call) -> Node:
        left, right = call.arguments
        if self._expression.kind(right) != DYNAMIC or not self._may_be_version(left):
            return call
        return self._unless_version(left, call)

    def _membership(self, call: Call) -> Node:
        element, over = call.arguments
        is_constant = isinstance(over, ListLiteral) and all(
            isinstance(other, tree.Constant) for other in over.elements
        )
        if not is_constant or not self._may_be_version(element):
            return call
        return self._unless_version(element, call)

    def _may_be_version(self, node: Node) -> bool:
        return self._expression.kind(node) == DYNAMIC and self._is_access(node)

    def _is_access(self, node: Node) -> bool:
        """Return whether this only looks something up, so that doing it twice costs little."""
        return all(
            isinstance(part, tree.Constant | tree.Name | tree.Select | tree.MapLiteral)
            or (isinstance(part, Call) and part.function in _ACCESSES)
            for part in tree.walk(node)
        )

    def _find(self, call: Call) -> Node:
        text, pattern = self._target(call), self._pattern(call.arguments[0])
        found = self._call("regex.extract", text, pattern)
        return self._call("orValue", self._text(""), target=found)

    def _find_all(self, call: Call) -> Node:
        text, pattern = self._target(call), self._pattern(call.arguments[0])
        found = self._call("regex.extractAll", text, pattern)
        return self._call(LIMITED, found, *call.arguments[1:]) if call.arguments[1:] else found

    def _pattern(self, node: Node) -> Node:
        text = node.text if isinstance(node, tree.Constant) else None
        return node if text is None else self._text(patterns.without_captures(text))

    def _includes(self, call: Call) -> Node:
        target, element = self._target(call), call.arguments[0]
        is_list = self._call("_==_", self._call("type", target), self._name("list"))
        inside = self._call("@in", element, target)
        return self._call("_?_:_", is_list, inside, self._call("_==_", target, element))

    def _range(self, call: Call) -> Node:
        (length,) = call.arguments
        limit = tree.Constant(next(self._ids), tree.integer(RANGE_MAX))
        is_long = self._call("_>_", length, limit)
        return self._choice(is_long, self._fault(f"lists.range: size exceeds {RANGE_MAX}"), call)

    def _unless_version(self, node: Node, otherwise: Node) -> Node:
        return self._unless(self._is_bytes(node), otherwise)

    def _unless(self, is_mismatch: Node, otherwise: Node) -> Node:
        return self._choice(is_mismatch, self._fault(_NO_OVERLOAD), otherwise)

    def _choice(self, condition: Node, first: Node, second: Node) -> Node:
        return self._call("_?_:_", condition, first, second)

    def _is_bytes(self, node: Node) -> Node:
        return self._call("_==_", self._call("type", node), self._name("bytes"))

    def _fault(self, reason: str) -> Node:
        return self._call(FAULT, self._text(reason))

    def _text(self, text: str) -> Node:
        return tree.Constant(next(self._ids), tree.text(text))

    def _name(self, name: str) -> Node:
        return tree.Name(next(self._ids), name)

    def _call(self, function: str, *arguments: Node, target: Node | None = None) -> Call:
        return Call(id=next(self._ids), function=function, arguments=arguments, target=target)

    def _field(self, node: Node) -> str | None:
        """Return which of the maps of domains this is, if it is one."""
        if not isinstance(node, tree.Name):
            return None
        return node.name if node.name in DOMAINS else self._aliases.get(node.name)

    @staticmethod
    def _target(call: Call) -> Node:
        assert call.target is not None
        return call.target
