"""Finds what an API server would refuse in an expression that the library itself accepts."""

from collections.abc import Iterator
from typing import Final

from springtide.wire.cel import environment, limits, messages, patterns, syntax, tree
from springtide.wire.cel.rewriting import rewritten
from springtide.wire.cel.syntax import DYNAMIC, Checked
from springtide.wire.cel.tree import Node

_RESULTS: Final = ("bool", DYNAMIC)
_PATTERN_FUNCTIONS: Final = ("matches", "find", "findAll")
_LITERAL_FUNCTIONS: Final = ("duration", "timestamp", "int", "uint", "double", "bool")


def fault(text: str, expression: Checked) -> str | None:
    """Return the first fault of a checked expression, with its place where it has one."""
    kind = expression.kind(expression.root)
    if kind not in _RESULTS:
        return f"it must evaluate to bool, not {kind}"
    for offset, message in _faults(expression, expression.root):
        return messages.at(text, offset, message)
    return limits.cost_fault(expression)


def _faults(
    expression: Checked, node: Node, *, is_mixed: bool = False
) -> Iterator[tuple[int, str]]:
    match node:
        case tree.ListLiteral() if not is_mixed:
            yield from _mixture(expression, node.elements)
        case tree.MapLiteral():
            keys = tuple(entry.key for entry in node.entries if entry.key is not None)
            yield from _mixture(expression, keys)
            yield from _mixture(expression, tuple(entry.value for entry in node.entries))
        case tree.Call():
            yield from _literal_faults(expression, node)
        case _:
            pass
    # What `format` is given is mixed by nature.
    below_is_mixed = isinstance(node, tree.Call) and node.function == "format"
    for child in tree.children(node):
        yield from _faults(expression, child, is_mixed=below_is_mixed)


def _mixture(expression: Checked, nodes: tuple[Node, ...]) -> Iterator[tuple[int, str]]:
    for node in nodes[1:]:
        if expression.types.get(node.id) != expression.types.get(nodes[0].id):
            wanted, found = expression.kind(nodes[0]), expression.kind(node)
            yield _offset(expression, node), f"expected type '{wanted}' but found '{found}'"


def _literal_faults(expression: Checked, call: tree.Call) -> Iterator[tuple[int, str]]:
    literal = next((node for node in call.arguments if isinstance(node, tree.Constant)), None)
    if literal is None or literal.text is None:
        return
    if call.function in _PATTERN_FUNCTIONS and call.arguments[0] is literal:
        why = patterns.fault(literal.text) or _computed_fault(_on_empty_text(call))
    elif call.function in _LITERAL_FUNCTIONS:
        why = _computed_fault(call)
    else:
        return
    if why is not None:
        message = f"invalid {call.function} argument: {why}"
        yield _offset(expression, literal), message


def _on_empty_text(call: tree.Call) -> tree.Call:
    empty = tree.Constant(call.id + 1_000_000, tree.text(""))
    return tree.Call(id=call.id, function=call.function, arguments=call.arguments[:1], target=empty)


def _computed_fault(node: Node) -> str | None:
    alone = Checked(root=node, types={}, offsets={})
    program = environment.computer().deserialize(syntax.parsed(rewritten(alone).root))
    value = program.eval(data={})
    return messages.of_evaluation(str(value.value())) if environment.is_error(value) else None


def _offset(expression: Checked, node: Node) -> int:
    return expression.offsets.get(node.id, 0)
