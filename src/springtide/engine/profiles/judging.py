"""How one node stands to its profile at a moment."""

from datetime import datetime
from enum import StrEnum
from typing import Final

import msgspec

from springtide.engine.profiles.comparing import Comparison, Outcome, Registered, compared
from springtide.engine.profiles.events import ProfileReason
from springtide.model.profile import DeviceProfile, FamilyDevices, OnMismatch


class Standing(StrEnum):
    """What is known of a node; the first two are not outcomes yet."""

    JOINING = "Joining"
    AWAITING = "AwaitingRegistration"
    VERIFIED = "Verified"
    EXCEEDS = "Exceeds"
    MISMATCH = "Mismatch"
    MALFORMED = "Malformed"
    TIMED_OUT = "RegistrationTimeout"


WHY_CHARS_MAX: Final = 512

GOOD: Final = frozenset({Standing.VERIFIED, Standing.EXCEEDS})
BAD: Final = frozenset({Standing.MISMATCH, Standing.MALFORMED, Standing.TIMED_OUT})
NOT_AS_PROMISED: Final = frozenset({Standing.MISMATCH, Standing.MALFORMED})

_STANDINGS: Final = {
    Outcome.VERIFIED: Standing.VERIFIED,
    Outcome.EXCEEDS: Standing.EXCEEDS,
    Outcome.MISMATCH: Standing.MISMATCH,
    Outcome.MALFORMED: Standing.MALFORMED,
}
REASONS: Final = {
    Standing.VERIFIED: ProfileReason.VERIFIED,
    Standing.EXCEEDS: ProfileReason.EXCEEDED,
    Standing.MISMATCH: ProfileReason.MISMATCH,
    Standing.MALFORMED: ProfileReason.MALFORMED,
    Standing.TIMED_OUT: ProfileReason.TIMED_OUT,
}


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    """How a node stands, why in a part of a sentence, and until when nothing but news changes that."""

    standing: Standing
    why: str = ""
    comparison: Comparison | None = None
    due_s: float | None = None


def expectation(profile: DeviceProfile) -> FamilyDevices:
    """Return what nodes have to register: what was promised, or what was adopted since."""
    if profile.on_mismatch is OnMismatch.ADOPT and profile.last_verified:
        return profile.last_verified
    return profile.devices


def judged(
    profile: DeviceProfile, registered: Registered, *, ready_since_s: float | None, now_s: float
) -> Judgement:
    """Return how a node stands that has been ready since then; None says that it is not ready."""
    if ready_since_s is None:
        return Judgement(standing=Standing.JOINING)
    comparison = compared(expectation(profile), registered)
    if comparison.outcome is not Outcome.UNREGISTERED:
        standing = _STANDINGS[comparison.outcome]
        return Judgement(standing=standing, why=_short(comparison.text), comparison=comparison)
    due_s = ready_since_s + profile.registration_timeout_s
    if now_s < due_s:
        return Judgement(standing=Standing.AWAITING, why=comparison.text, due_s=due_s)
    why = f"{comparison.text} {profile.registration_timeout_s:g} s after it was ready"
    return Judgement(standing=Standing.TIMED_OUT, why=why)


def _short(text: str) -> str:
    """Return a text that is told of many nodes at once; what a node registers may be of any length."""
    return text if len(text) <= WHY_CHARS_MAX else f"{text[: WHY_CHARS_MAX - 1]}…"


def unix_s(text: str) -> float | None:
    """Return a time of the API as Unix seconds, None if it is none."""
    try:
        return datetime.fromisoformat(text).timestamp() if text else None
    except ValueError:
        return None
