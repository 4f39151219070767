"""JSON inside annotations, read as HAMi's runtime reads it.

Keys match in any case, unknown keys are ignored, a missing key or `null` is the zero value, and a
number with a fraction or an exponent is not an integer. Where HAMi would go on with half a document
or crash, reading raises `Malformed` and says which field of which element it was.
"""

from collections.abc import Iterator, Mapping
from typing import Final, TypeVar

import msgspec

from springtide.wire.hami.errors import Malformed
from springtide.wire.hami.numbers import INT32_MAX, INT64_MAX, quoted

KindT = TypeVar("KindT", str, bool)

_NAMES: Final = {str: "a text", bool: "a boolean", int: "a whole number", float: "a number"}


class Fields:
    """One JSON object: its fields by name in any case, read with the type that the reader asks."""

    __slots__ = ("_values", "_where")

    def __init__(self, value: object, where: str) -> None:
        if not isinstance(value, dict):
            raise Malformed(f"{where} is {described(value)}, not an object")
        self._values: Mapping[str, object] = {key.lower(): item for key, item in value.items()}
        self._where = where

    def has(self, name: str) -> bool:
        """Return whether the field is there and not null."""
        return self._values.get(name.lower()) is not None

    def text(self, name: str) -> str:
        """Return a text, empty if absent."""
        value = self._value(name)
        return "" if value is None else self._checked(name, value, str)

    def flag(self, name: str) -> bool:
        """Return a boolean, false if absent."""
        value = self._value(name)
        return False if value is None else self._checked(name, value, bool)

    def int32(self, name: str) -> int:
        """Return a 32-bit number, 0 if absent."""
        return self._number(name, minimum=-INT32_MAX - 1, maximum=INT32_MAX)

    def integer(self, name: str) -> int:
        """Return a 64-bit number, 0 if absent."""
        return self._number(name, minimum=-INT64_MAX - 1, maximum=INT64_MAX)

    def unsigned(self, name: str) -> int:
        """Return a number that is not negative, 0 if absent."""
        return self._number(name, minimum=0, maximum=2 * INT64_MAX + 1)

    def whole_or_none(self, name: str) -> int | None:
        """Return a whole number, None if absent or anything else: free-form fields promise nothing."""
        match self._value(name):
            case bool():
                return None
            case int() as number:
                return number
            case float() as number if number.is_integer():
                return int(number)
            case _:
                return None

    def elements(self, name: str) -> Iterator["Fields"]:
        """Yield the objects of a list, nothing if absent."""
        value = self._value(name)
        if value is not None:
            yield from elements(value, self._path(name))

    def nested(self, name: str) -> "Fields":
        """Return an object, an empty one if absent."""
        value = self._value(name)
        return Fields({} if value is None else value, self._path(name))

    def numbers(self, name: str) -> tuple[tuple[str, int], ...]:
        """Return an object of numbers as sorted pairs, its keys in their own case."""
        value = self._value(name)
        if value is None:
            return ()
        if not isinstance(value, dict):
            raise Malformed(f"{self._path(name)} is {described(value)}, not an object")
        return tuple(sorted((key, self._pair(name, key, item)) for key, item in value.items()))

    def require_list(self, name: str) -> None:
        """Raise Malformed unless the field is a list or absent."""
        value = self._value(name)
        if value is not None and not isinstance(value, list):
            raise Malformed(f"{self._path(name)} is {described(value)}, not a list")

    def _pair(self, name: str, key: str, value: object) -> int:
        return 0 if value is None else whole(value, f"{self._path(name)}.{key}", maximum=INT64_MAX)

    def _value(self, name: str) -> object:
        return self._values.get(name.lower())

    def _path(self, name: str) -> str:
        return f"{self._where}.{name}"

    def _number(self, name: str, *, minimum: int, maximum: int) -> int:
        value = self._value(name)
        if value is None:
            return 0
        return whole(value, self._path(name), minimum=minimum, maximum=maximum)

    def _checked(self, name: str, value: object, kind: type[KindT]) -> KindT:
        if not isinstance(value, kind):
            raise Malformed(f"{self._path(name)} is {described(value)}, not {_NAMES[kind]}")
        return value


def parse(text: str) -> object:
    """Return the one JSON document in this text, or raise Malformed."""
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError as fault:
        raise Malformed(f"not a JSON document: {fault}") from fault


def elements(value: object, where: str) -> Iterator[Fields]:
    """Yield the objects of a list; a null among them is malformed."""
    if not isinstance(value, list):
        raise Malformed(f"{where or 'the document'} is {described(value)}, not a list")
    for position, item in enumerate(value):
        yield Fields(item, f"{where}[{position}]")


def whole(value: object, where: str, *, maximum: int, minimum: int | None = None) -> int:
    """Return a whole number within its bounds, or raise Malformed."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise Malformed(f"{where} is {described(value)}, not {_NAMES[int]}")
    least = -maximum - 1 if minimum is None else minimum
    if not least <= value <= maximum:
        raise Malformed(f"{where} is {value}, outside {least} to {maximum}")
    return value


def described(value: object) -> str:
    """Return what a JSON value is, for a message."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return f"the text {quoted(value[:40])}"
        case int() | float():
            return f"the number {value!r}"
        case list():
            return "a list"
        case _:
            return "an object"
