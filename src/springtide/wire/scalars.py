"""Plain YAML scalars as kubectl reads them: YAML 1.1 words, Go's numbers, no dates.

`yes no on off y n` are booleans, `017` and `0o17` are 15, `1e3` is 1000, `1:30` and `2001-01-01` stay
text. The table agrees with what kubectl 1.37 printed for the same documents.
"""

import math
import re
from functools import lru_cache
from typing import Final

Scalar = str | int | float | bool | None

SCALAR_CACHE_ENTRIES: Final = 4096
_UINT64_MAX: Final = 2**64 - 1
_INT64_MIN: Final = -(2**63)
# JSON as Go writes it shows whole numbers below this one without an exponent.
_WHOLE_BELOW: Final = 1e21


def _spellings(*words: str) -> list[str]:
    return [each for word in words for each in (word, word.capitalize(), word.upper())]


_WORDS: Final[dict[str, Scalar]] = {
    **dict.fromkeys(_spellings("y", "yes", "true", "on"), True),
    **dict.fromkeys(_spellings("n", "no", "false", "off"), False),
    **dict.fromkeys(["", "~", *_spellings("null")], None),
    **dict.fromkeys([".nan", ".NaN", ".NAN"], math.nan),
    **dict.fromkeys([sign + each for sign in ("", "+") for each in _spellings(".inf")], math.inf),
    **dict.fromkeys(["-" + each for each in (".inf", ".Inf", ".INF")], -math.inf),
}
_INTEGER: Final = re.compile(
    r"(?P<sign>[+-]?)(?:0[bB](?P<binary>[01]+)|0[oO]?(?P<octal>[0-7]+)|0[xX](?P<hex>[0-9a-fA-F]+)"
    r"|(?P<decimal>0|[1-9][0-9]*))"
)
_BASES: Final = {"binary": 2, "octal": 8, "hex": 16, "decimal": 10}
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")


@lru_cache(maxsize=SCALAR_CACHE_ENTRIES)
def resolved(text: str) -> Scalar:
    """Return what a plain scalar means."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in "+-.0123456789":
        return text
    number = _number(text.replace("_", ""))
    return text if number is None else number


def as_key(value: Scalar) -> str | None:
    """Return the JSON name that a scalar key becomes, None where kubectl takes it for no key."""
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return f"{value:g}"
        case None:
            return None


def as_json(value: Scalar) -> Scalar:
    """Return the value as JSON would show it: a whole number is an integer however it was written."""
    if isinstance(value, float) and value.is_integer() and abs(value) < _WHOLE_BELOW:
        return int(value)
    return value


def _number(digits: str) -> int | float | None:
    matched = _INTEGER.fullmatch(digits)
    if matched is not None:
        base = matched.lastgroup or ""
        number = int(matched["sign"] + matched[base], _BASES[base])
        if _INT64_MIN <= number <= _UINT64_MAX:
            return number
    if _FLOAT.fullmatch(digits) is None:
        return None
    number_or_infinity = float(digits)
    return None if math.isinf(number_or_infinity) else number_or_infinity
