"""Whether a time has come, in either way of comparing.

A new fleet compares milliseconds, and a time has come when it is there. Older fleets compare whole
seconds, and a time has come in the second after.
"""

from typing import Final

_SECOND_MS: Final = 1000


def has_come(at_ms: int, *, now_ms: int, is_strict: bool = False) -> bool:
    """Return whether this time has come."""
    if is_strict:
        return now_ms // _SECOND_MS > at_ms // _SECOND_MS
    return now_ms >= at_ms
