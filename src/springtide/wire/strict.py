"""Our own documents, read strictly: an unknown field is an error that names the nearest known one.

People write these documents by hand, and a misspelt field that is silently ignored gives a wrong
answer. The types say what is known; this module turns the decoder's complaint into a sentence.
"""

import re
from typing import Final, TypeVar

import msgspec
from msgspec import inspect

from springtide.base.nearest import nearest
from springtide.wire.errors import InvalidDocument
from springtide.wire.origin import Origin
from springtide.wire.validation import Path, complaint, located, reason

T = TypeVar("T")

_CONTAINERS: Final = (inspect.StructType, inspect.VarTupleType)

_UNKNOWN: Final = re.compile(r"Object contains unknown field `(?P<name>.*)`")
_CHOICE: Final = re.compile(r"Invalid enum value '(?P<value>.*)'")


def read(value: object, of: type[T], *, origin: Origin) -> T:
    """Return the plain value as this record, or raise InvalidDocument."""
    try:
        return msgspec.convert(value, type=of)
    except msgspec.ValidationError as fault:
        raise _invalid(fault, value, of, origin) from fault


def remedy(name: str, known: list[str]) -> str:
    """Return the remedy for a misspelt name."""
    close = nearest(name, known)
    if close is not None:
        return f'did you mean "{close}"?'
    return f"known are {', '.join(known)}."


def _invalid(
    fault: msgspec.ValidationError, value: object, of: type[object], origin: Origin
) -> InvalidDocument:
    what, text = complaint(fault)
    path = located(text, what, value)
    unknown, choice = _UNKNOWN.fullmatch(what), _CHOICE.fullmatch(what)
    if unknown is not None:
        known = _fields(_type_at(inspect.type_info(of), path[:-1]))
        return origin.fault(path, f"there is no such field; {remedy(unknown['name'], known)}")
    if choice is not None:
        known = _choices(_type_at(inspect.type_info(of), path))
        name = choice["value"]
        return origin.fault(path, f'"{name}" is not one of the choices; {remedy(name, known)}')
    return origin.fault(path, reason(what))


def _type_at(of: inspect.Type, path: Path) -> inspect.Type:
    """Return the type of the field at this path; the path exists, because the decoder was there."""
    for step in path:
        of = _child(of, step)
    return of


def _child(of: inspect.Type, step: str | int) -> inspect.Type:
    match of:
        case inspect.Metadata():
            return _child(of.type, step)
        case inspect.UnionType():
            return _child(next(each for each in of.types if isinstance(each, _CONTAINERS)), step)
        case inspect.StructType():
            return next(each.type for each in of.fields if each.encode_name == step)
        case inspect.VarTupleType():
            return of.item_type
        case inspect.DictType():
            return of.value_type
        case _:
            raise AssertionError(f"{of} has no fields")


def _fields(of: inspect.Type) -> list[str]:
    structs = (each for each in _alternatives(of) if isinstance(each, inspect.StructType))
    return [field.encode_name for each in structs for field in each.fields]


def _choices(of: inspect.Type) -> list[str]:
    choices: list[str] = []
    for each in _alternatives(of):
        if isinstance(each, inspect.EnumType):
            choices += (str(member.value) for member in each.cls)
        elif isinstance(each, inspect.LiteralType):
            choices += (str(value) for value in each.values)
    return choices


def _alternatives(of: inspect.Type) -> tuple[inspect.Type, ...]:
    if isinstance(of, inspect.Metadata):
        return _alternatives(of.type)
    return of.types if isinstance(of, inspect.UnionType) else (of,)
