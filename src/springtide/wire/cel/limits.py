"""Bounds on the work of one expression, beside the library's own 10,000 rounds of loops.

The library bounds neither texts nor lists: doubling a text thirty times takes gigabytes. What an expression
may build is therefore estimated, from above, before it is ever computed. Kubernetes adds up the cost of
all steps instead, by the same idea; most of what it refuses for its loops fails here while it runs.
"""

from collections.abc import Mapping
from typing import Final

import msgspec

from springtide.wire.cel import tree
from springtide.wire.cel.rewriting import RANGE_MAX
from springtide.wire.cel.syntax import Checked
from springtide.wire.cel.tree import Call, Node

LENGTH_MAX: Final = 10 * 1024
BUILT_MAX: Final = 10_000_000
ROUNDS_MAX: Final = 10_000

# A device has at most 32 attributes and capacities, and a value at most 64 characters.
_FACTS_MAX: Final = 32
_FACT_LENGTH_MAX: Final = 64

_SCALARS: Final = frozenset(
    ("bool", "int", "uint", "double", "null", "timestamp", "duration", "type", "bytes")
)
_LOOKUPS: Final = ("_[_]", "_[?_]", "_?._")


class _Size(msgspec.Struct, frozen=True):
    """A bound on a value: characters or elements, and the characters that one element stands for."""

    length: int = 1
    element: int = 1

    @property
    def total(self) -> int:
        return max(1, self.length) * self.element

    def __add__(self, other: "_Size") -> "_Size":
        return _Size(self.length + other.length, max(self.element, other.element))

    def or_either(self, other: "_Size") -> "_Size":
        return _Size(max(self.length, other.length), max(self.element, other.element))


_Bound = Mapping[str, _Size]
_NOTHING: Final = _Size(0)
_FACT: Final = _Size(_FACT_LENGTH_MAX)
_FACTS: Final = _Size(_FACTS_MAX, _FACT_LENGTH_MAX)
_DOMAINS: Final = _Size(_FACTS_MAX, _FACTS.total)


def length_fault(expression: str) -> str | None:
    """Return why a text is refused before anything reads it, if it is."""
    try:
        length = len(expression.encode())
    except UnicodeEncodeError:
        return "it is no valid Unicode text"
    return f"it is longer than {LENGTH_MAX} bytes" if length > LENGTH_MAX else None


def cost_fault(expression: Checked) -> str | None:
    """Return why an expression is too expensive, if it is."""
    estimate = _Estimate(expression)
    estimate.size(expression.root, {}, rounds=1)
    if estimate.built > BUILT_MAX:
        return f"it is too expensive: it may build more than {BUILT_MAX} characters"
    return None


class _Estimate:
    """Adds up what all parts of an expression build."""

    def __init__(self, expression: Checked) -> None:
        self._expression = expression
        self.built = 0

    def size(self, node: Node, bound: _Bound, *, rounds: int) -> _Size:
        size = self._size(node, bound, rounds)
        if self._expression.kind(node) in _SCALARS:
            size = _Size()
        self.built += rounds * (1 if _is_given(node) else size.total)
        return size

    def _size(self, node: Node, bound: _Bound, rounds: int) -> _Size:
        match node:
            case tree.Constant():
                return _Size(len(node.text or ""))
            case tree.Name():
                return bound.get(node.name, _variable_size(node.name))
            case tree.Select():
                return _element(self.size(node.operand, bound, rounds=rounds))
            case tree.ListLiteral() | tree.MapLiteral():
                parts = self._below(node, bound, rounds)
                return _Size(len(parts), max((part.total for part in parts), default=1))
            case Call():
                return _call_size(node.function, self._below(node, bound, rounds))
            case tree.Loop():
                return self._loop_size(node, bound, rounds)

    def _below(self, node: Node, bound: _Bound, rounds: int) -> list[_Size]:
        return [self.size(child, bound, rounds=rounds) for child in tree.children(node)]

    def _loop_size(self, loop: tree.Loop, bound: _Bound, rounds: int) -> _Size:
        over = self.size(loop.over, bound, rounds=rounds)
        start = self.size(loop.start, bound, rounds=rounds)
        inner = {**bound, **dict.fromkeys(loop.variables, _element(over))}
        within = min(ROUNDS_MAX, rounds * max(1, over.length))
        self.size(loop.condition, {**inner, loop.accumulator: start}, rounds=within)
        grown = self.size(loop.step, {**inner, loop.accumulator: _NOTHING}, rounds=within)
        # What `cel.bind` stands for has no rounds: its accumulator is a name for its start.
        final = start + _Size(over.length * grown.length, grown.element) if over.length else start
        return self.size(loop.result, {**bound, loop.accumulator: final}, rounds=rounds)


def _is_given(node: Node) -> bool:
    """Return whether a node only refers to something that is there already."""
    if isinstance(node, Call):
        return node.function in _LOOKUPS
    return isinstance(node, tree.Constant | tree.Name | tree.Select)


def _variable_size(name: str) -> _Size:
    if name in ("device.attributes", "device.capacity"):
        return _DOMAINS
    return _FACT


def _element(size: _Size) -> _Size:
    return _FACTS if size == _DOMAINS else _Size(size.element)


def _call_size(function: str, sizes: list[_Size]) -> _Size:
    first = sizes[0] if sizes else _NOTHING
    if function in _LOOKUPS:
        return _element(first)
    if function == "_?_:_":
        return sizes[1].or_either(sizes[2])
    if function == "lists.range":
        return _Size(RANGE_MAX)
    if function == "cel.@mapInsert":
        return _Size(first.length + 1, max(size.total for size in sizes))
    return _text_size(function, first, sizes)


def _text_size(function: str, first: _Size, sizes: list[_Size]) -> _Size:
    rest = sum(sizes[1:], _NOTHING)
    if function in ("replace", "format"):
        return _Size(max(1, first.length) * (1 + rest.total))
    if function in ("join", "flatten"):
        return _Size(first.length * (first.element + rest.length))
    if function in ("split", "findAll"):
        return _Size(first.length + 1, max(1, first.length))
    return first + rest
