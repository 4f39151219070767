"""Numbers and booleans inside delimited texts, read and refused exactly as HAMi's parsers do.

Only plain decimal digits with an optional sign count, no blanks and no underscores; the fault's words
are the ones that users find in HAMi's logs.
"""

import re
from typing import Final

from springtide.wire.hami.errors import Malformed

INT32_MAX: Final = 2**31 - 1
INT64_MAX: Final = 2**63 - 1

_DIGITS: Final = re.compile(r"[+-]?[0-9]+")
_BOOLEANS: Final = dict.fromkeys(("1", "t", "T", "TRUE", "true", "True"), True) | dict.fromkeys(
    ("0", "f", "F", "FALSE", "false", "False"), False
)


def parse_bool(text: str) -> bool | None:
    """Return the boolean that this text spells, or None if it spells none."""
    return _BOOLEANS.get(text)


def read_int32(text: str, field: str) -> int:
    """Return a 32-bit number, or raise Malformed naming the field."""
    return _read(text, field, maximum=INT32_MAX, parser="ParseInt")


def read_int(text: str, field: str) -> int:
    """Return a 64-bit number, or raise Malformed naming the field."""
    return _read(text, field, maximum=INT64_MAX, parser="Atoi")


def read_bool(text: str, field: str) -> bool:
    """Return a boolean, or raise Malformed naming the field."""
    value = parse_bool(text)
    if value is None:
        raise Malformed(_fault(text, field, parser="ParseBool", fault="invalid syntax"))
    return value


def quoted(text: str) -> str:
    """Return the text in double quotes, quotes and backslashes inside escaped."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _read(text: str, field: str, *, maximum: int, parser: str) -> int:
    if len(text) < _DIGITS_SURE and text.isascii() and text.isdigit():
        return int(text)
    if not _DIGITS.fullmatch(text):
        raise Malformed(_fault(text, field, parser=parser, fault="invalid syntax"))
    value = int(text) if len(text) <= _DIGITS_MAX else maximum + 1
    if not -maximum - 1 <= value <= maximum:
        raise Malformed(_fault(text, field, parser=parser, fault="value out of range"))
    return value


# So many plain digits are in range whatever they say.
_DIGITS_SURE: Final = 10
# Longer texts are out of range whatever they say, unless they are padded with zeros on purpose.
_DIGITS_MAX: Final = 4000


def _fault(text: str, field: str, *, parser: str, fault: str) -> str:
    return f"invalid {field} field: strconv.{parser}: parsing {quoted(text)}: {fault}"
