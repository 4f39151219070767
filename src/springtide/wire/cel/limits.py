"""Bounds on the work of one expression, beside the library's own 10,000 rounds of loops.

The library bounds neither texts nor lists: doubling a text thirty times takes gigabytes. The size of what
an expression may build is therefore estimated, from above, before it is ever computed. Kubernetes adds up
the cost of all steps instead; what that refuses for its loops is refused here while it runs.
"""

from collections.abc import Mapping
from typing import Final

from springtide.wire.cel import tree
from springtide.wire.cel.rewriting import RANGE_MAX
from springtide.wire.cel.tree import Node

LENGTH_MAX: Final = 10 * 1024
SIZE_MAX: Final = 10_000_000

# A device has at most 32 attributes and capacities, and a value at most 64 characters.
_ATTRIBUTES_MAX: Final = 32
_VALUE_LENGTH_MAX: Final = 64

_MULTIPLYING: Final = ("replace", "join", "format")


def length_fault(expression: str) -> str | None:
    """Return why a text is refused before anything reads it, if it is."""
    if len(expression.encode(errors="replace")) > LENGTH_MAX:
        return f"it is longer than {LENGTH_MAX} bytes"
    return None


def size_fault(root: Node) -> str | None:
    """Return why a tree is too expensive, if it is."""
    if _size(root, {}) > SIZE_MAX:
        return f"it is too expensive: it may build a value of more than {SIZE_MAX} characters"
    return None


def _size(node: Node, bound: Mapping[str, int]) -> int:
    """Return a bound on the characters and elements of what a node, or a part of it, builds."""
    match node:
        case tree.Constant():
            return max(1, len(node.body))
        case tree.Name():
            return bound.get(node.name, _variable_size(node.name))
        case tree.Call():
            return _call_size(node, bound)
        case tree.Loop():
            return _loop_size(node, bound)
        case _:
            return 1 + sum(_size(child, bound) for child in tree.children(node))


def _variable_size(name: str) -> int:
    return _ATTRIBUTES_MAX if name.startswith("device.") else _VALUE_LENGTH_MAX


def _call_size(call: tree.Call, bound: Mapping[str, int]) -> int:
    sizes = [_size(child, bound) for child in tree.children(call)]
    if call.function == "lists.range":
        return RANGE_MAX
    if call.function in _MULTIPLYING:
        return _product(sizes)
    return max(1, sum(sizes))


def _loop_size(loop: tree.Loop, bound: Mapping[str, int]) -> int:
    rounds = _size(loop.over, bound)
    start = _size(loop.start, bound)
    element = max(rounds, _VALUE_LENGTH_MAX)
    inner = {**bound, **dict.fromkeys(loop.variables, element), loop.accumulator: start}
    grown = start + rounds * _size(loop.step, inner)
    # What a loop without a range binds is a name for its start value.
    is_binding = not tree.children(loop.over) and isinstance(loop.over, tree.ListLiteral)
    final = start if is_binding else grown
    return _size(loop.result, {**inner, loop.accumulator: final})


def _product(sizes: list[int]) -> int:
    product = 1
    for size in sizes:
        product *= size + 1
    return product
