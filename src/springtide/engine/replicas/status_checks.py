"""Whether a status document may be followed: one bad write must not send everybody away."""

from typing import Final

from springtide.model.replicas.rules import Limits
from springtide.model.replicas.status import Status

AHEAD_MS_MAX: Final = 24 * 3600 * 1000
"""How far ahead a round may be planned."""


def complaint(status: Status, *, limits: Limits, now_ms: int) -> str:
    """Return what is wrong with a status, as a sentence; empty if it may be followed."""
    if not 1 <= status.expect <= 2 * limits.most:
        return f"It expects {status.expect} replicas; from 1 to {2 * limits.most} can be."
    if status.current < 0:
        return f"It says that {status.current} replicas run; fewer than none cannot."
    if not status.start_ms <= status.end_ms <= status.scaling_ms:
        return "Its round starts after its end, or ends after the scaling."
    if status.scaling_ms > now_ms + AHEAD_MS_MAX:
        return "Its round lies more than a day ahead."
    return ""
