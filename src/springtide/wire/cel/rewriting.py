"""Rewrites a checked tree into what the library computes as Kubernetes' evaluator would.

- `device.attributes["a.com"]` becomes a variable of its own, so that only the domains that an
  expression names are handed over, and a domain that a device lacks is an empty map.
- What Kubernetes has no function for fails, though it travels as a type that has one (`guards`).
- `find`, `findAll` and `includes` become functions that the library has.
"""

from collections.abc import Callable
from typing import Final

import msgspec
from msgspec.structs import replace

from springtide.wire.cel import patterns, tree, values
from springtide.wire.cel.building import Builder
from springtide.wire.cel.guards import Guards
from springtide.wire.cel.ordering import METHODS, Ordering
from springtide.wire.cel.syntax import Checked
from springtide.wire.cel.tree import Call, ListLiteral, Node
from springtide.wire.cel.variables import domain_variable

DOMAINS: Final = ("device.attributes", "device.capacity")
LIMITED: Final = "@limited"
RANGE_MAX: Final = 10_000


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
    """Goes through one tree from its leaves up."""

    def __init__(self, expression: Checked) -> None:
        self._build = Builder(expression.root)
        self._guards = Guards(expression, self._build)
        self._ordering = Ordering(expression, self._build)
        self._aliases: dict[str, str] = {}
        self._rules: dict[str, Callable[[Call], Node]] = {
            "_[_]": self._index,
            "_[?_]": self._optional_index,
            "_?._": self._optional_index,
            **dict.fromkeys(METHODS, self._ordering.method),
            "quantity": self._literal,
            "semver": self._literal,
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
        if self._ordering.is_of_quantities(call):
            return self._ordering.equality(below)
        return self._rules.get(call.function, self._guards.guarded)(below)

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
        if not self._guards.may_be_version(select.operand):
            return select
        return self._build.call("_&&_", self._build.has_type(select.operand, "map"), select)

    def _index(self, call: Call) -> Node:
        over, key = call.arguments
        field = self._field(over)
        if field is None:
            return call
        if isinstance(key, tree.Constant) and key.text is not None:
            return tree.Name(call.id, domain_variable(field, key.text))
        found = self._or_empty(replace(call, function="_[?_]"))
        if not self._guards.may_be_version(key):
            return found
        is_version = self._build.has_type(key, "bytes")
        reason = "invalid qualifier type: a version"
        return self._build.choice(is_version, self._build.fault(reason), found)

    def _optional_index(self, call: Call) -> Node:
        is_domain = self._field(call.arguments[0]) is not None
        return self._build.call("optional.of", self._or_empty(call)) if is_domain else call

    def _or_empty(self, found: Call) -> Call:
        inner = replace(found, id=self._build.new_id())
        outer = self._build.call("orValue", self._build.empty_map(), target=inner)
        return replace(outer, id=found.id)

    def _literal(self, call: Call) -> Node:
        """Read a quantity or version once, if its text is known; what is malformed stays a call."""
        literals = [node for node in call.arguments if isinstance(node, tree.Constant)]
        text = literals[0].text if literals else None
        if text is None or len(literals) < len(call.arguments):
            return call
        try:
            if call.function == "quantity":
                data = values.quantity(text)
            else:
                is_lenient = len(literals) > 1 and literals[1].body == tree.TRUE
                data = values.carried_version(text, is_lenient)
        except ValueError:
            return call
        return tree.Constant(call.id, tree.data(data))

    def _find(self, call: Call) -> Node:
        pattern = self._pattern(call.arguments[0])
        found = self._build.call("regex.extract", _target(call), pattern)
        return self._build.call("orValue", self._build.text(""), target=found)

    def _find_all(self, call: Call) -> Node:
        pattern, *limit = call.arguments
        found = self._build.call("regex.extractAll", _target(call), self._pattern(pattern))
        return self._build.call(LIMITED, found, *limit) if limit else found

    def _pattern(self, node: Node) -> Node:
        text = node.text if isinstance(node, tree.Constant) else None
        return node if text is None else self._build.text(patterns.without_captures(text))

    def _includes(self, call: Call) -> Node:
        target, element = _target(call), call.arguments[0]
        return self._build.choice(
            self._build.has_type(target, "list"),
            self._build.call("@in", element, target),
            self._build.call("_==_", target, element),
        )

    def _range(self, call: Call) -> Node:
        is_long = self._build.call("_>_", call.arguments[0], self._build.number(RANGE_MAX))
        reason = f"lists.range: size exceeds maximum allowed ({RANGE_MAX})"
        return self._build.choice(is_long, self._build.fault(reason), call)

    def _field(self, node: Node) -> str | None:
        """Return which of the maps of domains this is, if it is one."""
        if not isinstance(node, tree.Name):
            return None
        return node.name if node.name in DOMAINS else self._aliases.get(node.name)


def _target(call: Call) -> Node:
    assert call.target is not None
    return call.target
