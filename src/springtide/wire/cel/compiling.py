"""Compiles an expression: into a program, or into the reason why there is none."""

import re
from collections.abc import Mapping
from functools import partial
from typing import Final

from cel_expr_python import cel

from springtide.model.device_facts import SelectorFault
from springtide.wire.cel import checking, environment, limits, messages, syntax
from springtide.wire.cel.declarations import DEVICE_FIELDS
from springtide.wire.cel.program import Program, Refused
from springtide.wire.cel.rewriting import rewritten

# The checker knows the fields of a device as variables, and a variable cannot be asked for.
_PRESENCE: Final = re.compile(rf"\bhas\(\s*device\s*\.\s*(?:{'|'.join(DEVICE_FIELDS)})\s*\)")


def compiled(text: str) -> Program | Refused:
    """Compile an expression."""
    reason = limits.length_fault(text)
    if reason is not None:
        return Refused(reason)
    try:
        serialized = environment.checker().compile(_PRESENCE.sub(_as_true, text)).serialize()
    except RuntimeError as error:
        return Refused(messages.of_compiler(str(error)))
    return _computable(text, syntax.checked(serialized))


def _computable(text: str, expression: syntax.Checked) -> Program | Refused:
    reason = checking.fault(text, expression)
    if reason is not None:
        return Refused(reason)
    found = rewritten(expression)
    program = environment.computer().deserialize(syntax.parsed(found.root))
    return Program(partial(_answer, program), tuple(sorted(found.variables)))


def _answer(program: cel.Expression, variables: Mapping[str, object]) -> bool:
    try:
        value = program.eval(data=variables)
    except RuntimeError as error:
        raise SelectorFault(messages.of_evaluation(str(error))) from error
    kind = value.type()
    if kind == environment.BOOL:
        return bool(value.value())
    if environment.is_error(value):
        raise SelectorFault(messages.of_evaluation(str(value.value())))
    raise SelectorFault(f"CEL result of type {kind.name().lower()} could not be converted to bool")


def _as_true(presence: re.Match[str]) -> str:
    return "true".ljust(len(presence[0]))
