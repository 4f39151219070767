"""Times of a ReplicasConfiguration, in milliseconds, or the fault of their field."""

from typing import Final

from springtide.base.durations import SECOND_NS, MalformedDuration, parse_duration_ns
from springtide.wire.origin import Origin
from springtide.wire.validation import Path

_MS_NS: Final = SECOND_NS // 1000
_SECOND_MS: Final = 1000


def whole_ms(text: str, origin: Origin, path: Path, *, least_ms: int = 0) -> int:
    """Return a time, or raise InvalidDocument."""
    try:
        found = parse_duration_ns(text) // _MS_NS
    except MalformedDuration as fault:
        reason = f'"{text}" is no duration; write it like 30s, 5m or 1h.'
        raise origin.fault(path, reason) from fault
    if found < least_ms:
        reason = f'"{text}" is too short; write at least {least_ms / _SECOND_MS:g}s.'
        raise origin.fault(path, reason)
    return found


def second_ms(text: str, origin: Origin, path: Path, *, least_ms: int = 0) -> int:
    """Return a time of whole seconds, as queries need it, or raise InvalidDocument."""
    found = whole_ms(text, origin, path, least_ms=least_ms)
    if found % _SECOND_MS:
        raise origin.fault(path, f'"{text}" has parts of a second; write whole ones.')
    return found
