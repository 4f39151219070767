"""Exact Kubernetes quantities: `500m`, `16Gi`, `1e3`.

A quantity is a whole number of nano units and the format that it was written in. Nothing here ever
becomes a float: parsing, rounding and arithmetic agree with Kubernetes 1.37's resource.Quantity to
the last digit. We differ on purpose in three ways: `value` and `milli` saturate at 64 bits instead of
wrapping, they round negative fractions correctly, and exponents that no quantity can need are refused.

Equality and hash look at all fields, because how a quantity was written decides what `as_int64`
answers. Ask `compare` (or compare `nano`) for the order of values.
"""

import re
from enum import StrEnum
from functools import lru_cache
from typing import Final

from msgspec import Struct

from springtide.base.errors import SpringtideError

NANO: Final = 10**9
MILLI: Final = 10**3
INT64_MAX: Final = 2**63 - 1
INT64_MIN: Final = -(2**63)
EXPONENT_MAX: Final = 1024
TEXT_LENGTH_MAX: Final = 2048
PARSE_CACHE_ENTRIES: Final = 65536

_DECIMAL_DIGITS_MAX: Final = 18
_BINARY_DIGITS_MAX: Final = 14
_NANO_SCALE: Final = -9

_FORMAT_FAULT: Final = (
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
)
_SUFFIX_FAULT: Final = "unable to parse quantity's suffix"
_NUMBER_FAULT: Final = "unable to parse numeric part of quantity"


class Format(StrEnum):
    """How a quantity was written, and therefore how it is written again."""

    DECIMAL_SI = "DecimalSI"
    BINARY_SI = "BinarySI"
    DECIMAL_EXPONENT = "DecimalExponent"


class MalformedQuantity(SpringtideError):
    """A text is not a quantity; `reason` keeps the words that Kubernetes uses."""

    def __init__(self, text: str, reason: str) -> None:
        shown = text if len(text) <= _SHOWN_LENGTH_MAX else text[:_SHOWN_LENGTH_MAX] + "…"
        super().__init__(f'Quantity "{shown}" is malformed: {reason}.')
        self.text = text
        self.reason = reason


_SHOWN_LENGTH_MAX: Final = 80


class Quantity(Struct, frozen=True, kw_only=True, gc=False):
    """A number of nano units with its format.

    `scale` is the power of ten that Kubernetes keeps beside a 64-bit integer while it can, and None
    once it has fallen back to big decimals. It never changes the value; only `as_int64` and the
    scale of sums depend on it.
    """

    nano: int
    format: Format = Format.DECIMAL_SI
    scale: int | None = 0

    def value(self) -> int:
        """Return whole units, rounded away from zero and held within 64 bits."""
        return _within_int64(_divided_away_from_zero(self.nano, NANO))

    def milli(self) -> int:
        """Return thousandths, rounded away from zero and held within 64 bits."""
        return _within_int64(_divided_away_from_zero(self.nano, NANO // MILLI))

    def as_int64(self) -> int | None:
        """Return the value where Kubernetes' AsInt64 has one: spelling decides, `1000m` has none."""
        if self.scale is None or self.scale < 0:
            return None
        units = self.nano // NANO
        return units if INT64_MIN <= units <= INT64_MAX else None

    def canonical(self) -> str:
        """Return the one spelling that Kubernetes writes for this value and format."""
        if self.nano == 0:
            return "0"
        if self.format is Format.BINARY_SI and _prints_binary(self.nano):
            return _binary_text(self.nano // NANO)
        return _decimal_text(self.nano, with_exponent=self.format is Format.DECIMAL_EXPONENT)

    def __str__(self) -> str:
        return self.canonical()

    def add(self, other: "Quantity") -> "Quantity":
        """Return the exact sum, in this quantity's format unless this one is zero."""
        return Quantity(
            nano=self.nano + other.nano,
            format=self.format if self.nano else other.format,
            scale=_scale_of_sum(self, other, nano=other.nano),
        )

    def subtract(self, other: "Quantity") -> "Quantity":
        """Return the exact difference, in this quantity's format unless this one is zero."""
        return Quantity(
            nano=self.nano - other.nano,
            format=self.format if self.nano else other.format,
            scale=_scale_of_sum(self, other, nano=-other.nano),
        )


ZERO: Final = Quantity(nano=0)


def compare(left: Quantity, right: Quantity) -> int:
    """Return -1, 0 or 1 as the left value is below, equal to or above the right; formats are ignored."""
    return (left.nano > right.nano) - (left.nano < right.nano)


def of(value: int) -> Quantity:
    """Return a whole number of units, written in DecimalSI."""
    fits = INT64_MIN <= value <= INT64_MAX
    return Quantity(nano=value * NANO, scale=0 if fits else None)


def from_json(value: str | float | None) -> Quantity:
    """Read a decoded JSON value: null is zero, strings are trimmed, numbers count as their text.

    A float has lost its spelling; where the format matters, hand the raw text to `from_json_text`.
    """
    if value is None:
        return ZERO
    if isinstance(value, bool):
        raise MalformedQuantity(str(value).lower(), _FORMAT_FAULT)
    if isinstance(value, str):
        return parse(value.strip())
    if isinstance(value, int) and value.bit_length() > TEXT_LENGTH_MAX:
        raise MalformedQuantity(hex(value), _too_long())
    return parse(repr(value))


def from_json_text(text: str) -> Quantity:
    """Read a JSON value that is still text: `null`, `"16Gi"` or a bare number."""
    if text == "null":
        return ZERO
    quoted = len(text) > 1 and text[0] == text[-1] == '"'
    return parse((text[1:-1] if quoted else text).strip())


@lru_cache(maxsize=PARSE_CACHE_ENTRIES)
def parse(text: str) -> Quantity:
    """Read a quantity, or raise MalformedQuantity."""
    plain = _PLAIN.fullmatch(text)
    if plain is not None:
        digits, suffix = plain.groups()
        nano_each, format_, scale, digits_max = _PLAIN_SUFFIXES[suffix]
        if len(digits) <= digits_max:
            return Quantity(nano=int(digits) * nano_each, format=format_, scale=scale)
    return _parsed(text)


# Nearly every quantity in a cluster looks like one of these; they skip the general grammar.
_PLAIN: Final = re.compile(r"([0-9]{1,18})(|m|Ki|Mi|Gi)")
_PLAIN_SUFFIXES: Final = {
    "": (NANO, Format.DECIMAL_SI, 0, 18),
    "m": (NANO // MILLI, Format.DECIMAL_SI, -3, 18),
    "Ki": (NANO << 10, Format.BINARY_SI, 0, 11),
    "Mi": (NANO << 20, Format.BINARY_SI, 0, 8),
    "Gi": (NANO << 30, Format.BINARY_SI, 0, 5),
}

# Possessive, so that a hostile text costs one pass.
_GRAMMAR: Final = re.compile(
    r"(?P<sign>[+-]?+)0*+(?P<whole>[0-9]*+)(?:\.(?P<fraction>[0-9]*+))?+"
    r"(?P<suffix>[eEinumkKMGTP]*+[+-]?+[0-9]*+)"
)
_EXPONENT: Final = re.compile(r"[eE]([+-]?[0-9]+)")

_DECIMAL_SUFFIXES: Final = {
    "n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18,
}  # fmt: skip
_BINARY_SUFFIXES: Final = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_NAMES: Final = {exponent: name for name, exponent in _DECIMAL_SUFFIXES.items()}
_BINARY_NAMES: Final = ("", *_BINARY_SUFFIXES)


def _parsed(text: str) -> Quantity:
    if len(text) > TEXT_LENGTH_MAX:
        raise MalformedQuantity(text, _too_long())
    matched = _GRAMMAR.fullmatch(text) if text else None
    if matched is None:
        raise MalformedQuantity(text, _FORMAT_FAULT)
    sign, whole, fraction, suffix = matched.group("sign", "whole", "fraction", "suffix")
    has_digits = any(char in "0123456789" for char in text[: matched.start("suffix")])
    bits = _BINARY_SUFFIXES.get(suffix)
    if bits is not None:
        magnitude = _binary(whole or "0", fraction or "", bits=bits)
    else:
        exponent, format_ = _decimal_exponent(text, suffix)
        magnitude = _decimal(whole or "0", fraction or "", exponent=exponent, format_=format_)
    # Kubernetes' integer path takes a missing number for 0, its decimal path refuses it.
    if magnitude.scale is None and not has_digits:
        raise MalformedQuantity(text, _NUMBER_FAULT)
    if sign != "-":
        return magnitude
    return Quantity(nano=-magnitude.nano, format=magnitude.format, scale=magnitude.scale)


def _decimal_exponent(text: str, suffix: str) -> tuple[int, Format]:
    named = _DECIMAL_SUFFIXES.get(suffix)
    if named is not None:
        return named, Format.DECIMAL_SI
    matched = _EXPONENT.fullmatch(suffix)
    written = int(matched[1]) if matched is not None else INT64_MAX + 1
    if not INT64_MIN <= written <= INT64_MAX:
        raise MalformedQuantity(text, _SUFFIX_FAULT)
    # Kubernetes reads 64 bits and keeps the lower 32, so 1e4294967297 is 10.
    exponent = (written + 2**31) % 2**32 - 2**31
    if abs(exponent) > EXPONENT_MAX:
        raise MalformedQuantity(
            text,
            f"the exponent {exponent} is beyond what any quantity needs; "
            f"write one between -{EXPONENT_MAX} and {EXPONENT_MAX}",
        )
    return exponent, Format.DECIMAL_EXPONENT


def _decimal(whole: str, fraction: str, *, exponent: int, format_: Format) -> Quantity:
    digits = whole + fraction
    scale = exponent - len(fraction)
    is_integer = len(digits) <= _DECIMAL_DIGITS_MAX and scale >= _NANO_SCALE
    return Quantity(
        nano=_shifted(int(digits), power=scale - _NANO_SCALE),
        format=format_,
        scale=scale if is_integer else None,
    )


def _binary(whole: str, fraction: str, *, bits: int) -> Quantity:
    # Kubernetes estimates the digits that the factor adds as 3 for every 10 bits.
    is_integer = not fraction and len(whole) <= _BINARY_DIGITS_MAX - bits * 3 // 10
    nano = _shifted(int(whole + fraction) * (NANO << bits), power=-len(fraction))
    if is_integer:
        return Quantity(nano=nano, format=Format.BINARY_SI)
    format_ = Format.DECIMAL_SI if 0 < nano < NANO else Format.BINARY_SI
    return Quantity(nano=min(nano, INT64_MAX * NANO), format=format_, scale=None)


def _shifted(number: int, *, power: int) -> int:
    factor: int = 10 ** abs(power)
    return number * factor if power >= 0 else _divided_away_from_zero(number, factor)


def _divided_away_from_zero(number: int, divisor: int) -> int:
    return -(-number // divisor) if number > 0 else number // divisor


def _within_int64(number: int) -> int:
    return max(INT64_MIN, min(INT64_MAX, number))


def _too_long() -> str:
    return f"it is longer than {TEXT_LENGTH_MAX} characters"


def _scale_of_sum(left: Quantity, right: Quantity, *, nano: int) -> int | None:
    """Say which scale Kubernetes keeps for left plus (right with this `nano`), None if it overflows."""
    if left.scale is None or right.scale is None:
        return None
    if nano == 0:
        return left.scale
    if left.nano == 0:
        return right.scale
    scale = min(left.scale, right.scale)
    unit = 10 ** (scale - _NANO_SCALE)
    parts = (left.nano // unit, nano // unit, (left.nano + nano) // unit)
    return scale if all(INT64_MIN <= part <= INT64_MAX for part in parts) else None


def _prints_binary(nano: int) -> bool:
    return abs(nano) >= 1024 * NANO and nano % NANO == 0


def _binary_text(units: int) -> str:
    power = 0
    while units % 1024 == 0 and power < len(_BINARY_NAMES) - 1:
        units //= 1024
        power += 1
    return f"{units}{_BINARY_NAMES[power]}"


def _decimal_text(nano: int, *, with_exponent: bool) -> str:
    mantissa, exponent = nano, _NANO_SCALE
    while mantissa % 1000 == 0:
        mantissa //= 1000
        exponent += 3
    if with_exponent:
        return f"{mantissa}e{exponent}" if exponent else str(mantissa)
    # Beyond exa Kubernetes knows no suffix and writes none: 1000E becomes "1".
    return f"{mantissa}{_DECIMAL_NAMES.get(exponent, '')}"
