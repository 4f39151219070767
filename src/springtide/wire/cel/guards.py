"""Lets versions fail where Kubernetes has no such function for them.

A version travels as bytes, for which the library has more operators than Kubernetes has for versions.
What is of a known type was checked already; what a device's attribute is shows only when it is read.
Comparing a version on the left with anything else is a fault, but to the right it is merely unequal, and
`!=` is never a fault.
"""

from typing import Final

from springtide.wire.cel import tree
from springtide.wire.cel.building import Builder
from springtide.wire.cel.syntax import DYNAMIC, Checked
from springtide.wire.cel.tree import Call, Node

_ORDER: Final = ("_<_", "_<=_", "_>_", "_>=_", "_+_")
_CARRIED: Final = ("kubernetes.Semver", "kubernetes.Quantity")
_NULL: Final = "null"
_ACCESSES: Final = ("_[_]", "_[?_]", "_?._", "orValue", "value", "dyn")
_NO_OVERLOAD: Final = "no such overload: {} of a version"


def is_lookup(node: Node) -> bool:
    """Return whether this only looks something up, so that doing it twice costs little."""
    return all(
        isinstance(part, tree.Constant | tree.Name | tree.Select | tree.MapLiteral)
        or (isinstance(part, Call) and part.function in _ACCESSES)
        for part in tree.walk(node)
    )


class Guards:
    """Wraps calls in a question for the type of what they are given, where that is needed."""

    def __init__(self, expression: Checked, build: Builder) -> None:
        self._expression = expression
        self._build = build

    def guarded(self, call: Call) -> Node:
        """Return the call, or a choice between it and a fault."""
        condition = self._condition(call)
        if condition is None:
            return call
        name = call.function.strip("_@")
        return self._build.choice(condition, self._build.fault(_NO_OVERLOAD.format(name)), call)

    def may_be_version(self, node: Node) -> bool:
        """Return whether this is of unknown type, and can be asked for it at little cost."""
        return self._expression.kind(node) == DYNAMIC and is_lookup(node)

    def _condition(self, call: Call) -> Node | None:
        operands = tree.children(call)
        if call.function == "_==_":
            return self._equality(*operands)
        if call.function in _ORDER:
            return self._order(*operands)
        if call.function == "@in":
            return self._membership(*operands)
        if call.function == "size" and self.may_be_version(operands[0]):
            return self._is_bytes(operands[0])
        return None

    def _equality(self, left: Node, right: Node) -> Node | None:
        left_kind, right_kind = self._expression.kind(left), self._expression.kind(right)
        if left_kind in _CARRIED and self.may_be_version(right):
            return self._build.call("!_", self._is_bytes(right))
        if right_kind in (*_CARRIED, _NULL) or not self.may_be_version(left):
            return None
        if right_kind != DYNAMIC:
            return self._is_bytes(left)
        if not self.may_be_version(right):
            return None
        other = self._build.call("!_", self._is_bytes(right))
        return self._build.call("_&&_", self._is_bytes(left), other)

    def _order(self, left: Node, right: Node) -> Node | None:
        is_open = self._expression.kind(right) == DYNAMIC and self.may_be_version(left)
        return self._is_bytes(left) if is_open else None

    def _membership(self, element: Node, over: Node) -> Node | None:
        is_constant = isinstance(over, tree.ListLiteral) and all(
            isinstance(other, tree.Constant) and self._expression.kind(other) not in _CARRIED
            for other in over.elements
        )
        return self._is_bytes(element) if is_constant and self.may_be_version(element) else None

    def _is_bytes(self, node: Node) -> Node:
        return self._build.has_type(node, "bytes")
