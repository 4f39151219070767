"""Durations as Go and Kubernetes write them: `10m0s`, `500ms`, `-1.5s`. Exact, in nanoseconds."""

import re
from typing import Final

SECOND_NS: Final = 1_000_000_000

_UNITS_NS: Final = {
    "ns": 1, "us": 1_000, "µs": 1_000, "μs": 1_000, "ms": 1_000_000, "s": SECOND_NS,
    "m": 60 * SECOND_NS, "h": 3600 * SECOND_NS,
}  # fmt: skip
_PIECE: Final = re.compile(r"(?P<number>[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?P<unit>[^0-9.]*)")
_LARGEST_NS: Final = 2**63


class MalformedDuration(ValueError):
    """A text is no duration; the message is Go's."""


def parse_duration_ns(text: str) -> int:
    """Return the nanoseconds of a text, or raise MalformedDuration."""
    sign, rest = (-1, text[1:]) if text.startswith("-") else (1, text.removeprefix("+"))
    if rest == "0":
        return 0
    total, at = 0, 0
    while at < len(rest):
        piece = _PIECE.match(rest, at)
        if piece is None:
            raise _invalid(text)
        total += _nanoseconds(piece["number"], _unit_ns(piece["unit"], text))
        at = piece.end()
    if not rest or total >= _LARGEST_NS:
        raise _invalid(text)
    return sign * total


def format_duration(nanoseconds: int) -> str:
    """Return the text as Go writes it: `1m30s`, `500ms`, `0s`."""
    if not nanoseconds:
        return "0s"
    sign, rest = ("-", -nanoseconds) if nanoseconds < 0 else ("", nanoseconds)
    if rest < SECOND_NS:
        unit = next(unit for unit in ("ms", "µs", "ns") if rest >= _UNITS_NS[unit])
        return f"{sign}{_decimal(rest, _UNITS_NS[unit])}{unit}"
    minutes, left = divmod(rest, _UNITS_NS["m"])
    hours, minutes = divmod(minutes, 60)
    text = f"{_decimal(left, SECOND_NS)}s"
    if hours:
        return f"{sign}{hours}h{minutes}m{text}"
    return f"{sign}{minutes}m{text}" if minutes else f"{sign}{text}"


def _nanoseconds(number: str, unit_ns: int) -> int:
    whole, _, rest = number.partition(".")
    scale: int = 10 ** len(rest)
    return int(whole or "0") * unit_ns + int(rest or "0") * unit_ns // scale


def _unit_ns(unit: str, text: str) -> int:
    if not unit:
        raise MalformedDuration(f'time: missing unit in duration "{text}"')
    if unit not in _UNITS_NS:
        raise MalformedDuration(f'time: unknown unit "{unit}" in duration "{text}"')
    return _UNITS_NS[unit]


def _invalid(text: str) -> MalformedDuration:
    return MalformedDuration(f'time: invalid duration "{text}"')


def _decimal(value: int, unit: int) -> str:
    """Return value/unit; the unit is a power of ten, so the digits end."""
    whole, rest = divmod(value, unit)
    digits = str(rest).rjust(len(str(unit)) - 1, "0").rstrip("0") if rest else ""
    return f"{whole}.{digits}" if digits else str(whole)
