"""Compares quantities and versions without calling Python, by the order of the bytes they travel as.

A quantity may end with the mark that it was not written as an integer; a mark more on the other side
makes the comparison blind to it: `left > right + mark`.
"""

from typing import Final

from springtide.wire.cel import tree, values
from springtide.wire.cel.building import Builder
from springtide.wire.cel.guards import is_lookup
from springtide.wire.cel.syntax import DYNAMIC, Checked
from springtide.wire.cel.tree import Call, Node

METHODS: Final = ("isGreaterThan", "isLessThan", "compareTo")

_QUANTITY: Final = "kubernetes.Quantity"
_VERSION: Final = "kubernetes.Semver"
_EQUALITIES: Final = ("_==_", "_!=_")
_COMPUTING: Final = ("add", "sub")


class Ordering:
    """Rewrites the methods that compare, and `==` and `!=` of quantities."""

    def __init__(self, expression: Checked, build: Builder) -> None:
        self._expression = expression
        self._build = build

    def method(self, call: Call) -> Node:
        """Return a comparison by bytes, or the call if that would mean to compute something twice."""
        left, right = tree.children(call)
        if not (is_lookup(left) and is_lookup(right)):
            return call
        kinds = {self._expression.kind(left), self._expression.kind(right)}
        if kinds == {_QUANTITY}:
            return self._ordered(call.function, left, right, is_marked=True)
        if not kinds <= {_VERSION, DYNAMIC}:
            return call
        ordered = self._ordered(call.function, left, right, is_marked=False)
        # What turns out to be something else has no such method, and the library says so.
        for operand in (left, right):
            if self._expression.kind(operand) == DYNAMIC:
                is_version = self._build.has_type(operand, "bytes")
                ordered = self._build.choice(is_version, ordered, call)
        return ordered

    def is_of_quantities(self, call: Call) -> bool:
        """Return whether this is an equality of two quantities."""
        return call.function in _EQUALITIES and all(
            self._expression.kind(operand) == _QUANTITY for operand in call.arguments
        )

    def equality(self, call: Call) -> Node:
        """Return an equality of two quantities by their values."""
        left, right = call.arguments
        order = self.method(self._build.call("compareTo", right, target=left))
        # Kubernetes' `==` does not know a computed quantity again when it stands on the right.
        is_known = not (isinstance(right, Call) and right.function in _COMPUTING)
        if is_known:
            return self._build.call(call.function, order, self._build.number(0))
        if call.function == "_==_":
            return self._build.fault("no such overload: == with a computed quantity on the right")
        return self._build.call(call.function, order, self._build.number(2))

    def _ordered(self, method: str, left: Node, right: Node, *, is_marked: bool) -> Node:
        is_greater = self._is_above(left, right, is_marked=is_marked)
        if method == "isGreaterThan":
            return is_greater
        is_less = self._is_above(right, left, is_marked=is_marked)
        if method == "isLessThan":
            return is_less
        below = self._build.choice(is_less, self._build.number(-1), self._build.number(0))
        return self._build.choice(is_greater, self._build.number(1), below)

    def _is_above(self, left: Node, right: Node, *, is_marked: bool) -> Node:
        if is_marked:
            right = self._build.call("_+_", right, self._build.data(values.MARK))
        return self._build.call("_>_", left, right)
