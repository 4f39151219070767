"""Builds nodes that were not in the text of an expression."""

from itertools import count
from typing import Final

from springtide.wire.cel import tree
from springtide.wire.cel.tree import Call, Node

FAULT: Final = "@fault"


class Builder:
    """Makes nodes whose ids no node of the given tree has, because the library tells them by id."""

    def __init__(self, root: Node) -> None:
        self._ids = count(1 + max(node.id for node in tree.walk(root)))

    def new_id(self) -> int:
        """Return an id that no node has."""
        return next(self._ids)

    def call(self, function: str, *arguments: Node, target: Node | None = None) -> Call:
        """Return a call of a function, or of a method."""
        return Call(id=next(self._ids), function=function, arguments=arguments, target=target)

    def name(self, name: str) -> Node:
        """Return a variable or a type."""
        return tree.Name(next(self._ids), name)

    def text(self, text: str) -> Node:
        """Return a string literal."""
        return tree.Constant(next(self._ids), tree.text(text))

    def number(self, number: int) -> Node:
        """Return a literal of a whole number."""
        return tree.Constant(next(self._ids), tree.integer(number))

    def data(self, data: bytes) -> Node:
        """Return a literal of bytes."""
        return tree.Constant(next(self._ids), tree.data(data))

    def empty_map(self) -> Node:
        """Return `{}`."""
        return tree.MapLiteral(id=next(self._ids))

    def choice(self, condition: Node, first: Node, second: Node) -> Call:
        """Return `condition ? first : second`."""
        return self.call("_?_:_", condition, first, second)

    def fault(self, reason: str) -> Call:
        """Return what has no value, for this reason."""
        return self.call(FAULT, self.text(reason))

    def has_type(self, node: Node, name: str) -> Call:
        """Return `type(node) == name`."""
        return self.call("_==_", self.call("type", node), self.name(name))
