"""A JSON text as Go's decoder sees it: numbers as written, members in order and repeated."""

import json
from typing import Any, Final, NoReturn

import msgspec

from springtide.wire.validation import Path, shown

# Enough for every integer that a field can hold; Python is slow with much longer ones.
DIGITS_MAX: Final = 40


class Complaint(Exception):
    """A document is refused; `text` is what kube-scheduler says, `path` where."""

    def __init__(self, text: str, path: Path = ()) -> None:
        super().__init__(text)
        self.text = text
        self.path = path


class Number(str):
    """A JSON number as it was written."""

    __slots__ = ()


class Members(list[tuple[str, Any]]):
    """The members of a JSON object, in their order and with repeated names."""

    __slots__ = ()

    def get(self, name: str) -> Any:
        """Return the last value of this name, None without one."""
        return dict(self).get(name)


class Strictness(msgspec.Struct):
    """Complaints about fields that are unknown or given twice; they are told together."""

    complaints: list[Complaint]

    def add(self, what: str, path: Path) -> None:
        """Note one field."""
        self.complaints.append(Complaint(f'{what} field "{shown(path)}"', path))


def parse(text: str) -> Any:
    """Return the JSON text as `Members`, lists, texts, `Number`s, booleans and None."""
    return json.loads(
        text,
        object_pairs_hook=Members,
        parse_int=Number,
        parse_float=Number,
        parse_constant=_refuse,
    )


def _refuse(name: str) -> NoReturn:
    """Refuse NaN and Infinity, which Python takes for numbers and JSON does not."""
    raise json.JSONDecodeError("Expecting value", name, 0)


def plain(node: Any) -> Any:
    """Return a parsed value as plain data."""
    match node:
        case Members():
            return {name: plain(value) for name, value in node}
        case Number():
            return json.loads(node) if len(node) <= DIGITS_MAX else float(node)
        case list():
            return [plain(each) for each in node]
        case _:
            return node


def kind_of(node: Any) -> str:
    """Return what Go calls a JSON value of this kind."""
    match node:
        case Members():
            return "object"
        case list():
            return "array"
        case Number():
            return "number"
        case str():
            return "string"
        case bool():
            return "bool"
        case _:
            return "null"
