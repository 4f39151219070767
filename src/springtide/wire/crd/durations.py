"""Durations as Kubernetes writes them: `10m`, `1h30m`, `2.5s`."""

import re
from typing import Final

_UNITS_S: Final = {
    "ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0,
}  # fmt: skip
_PIECE: Final = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h)")
_WHOLE: Final = re.compile(rf"(?:{_PIECE.pattern})+")


def duration_s(text: str) -> float | None:
    """Return the duration in seconds, None if the text is none."""
    if text == "0":
        return 0.0
    if _WHOLE.fullmatch(text) is None:
        return None
    return sum(float(number) * _UNITS_S[unit] for number, unit in _PIECE.findall(text))
