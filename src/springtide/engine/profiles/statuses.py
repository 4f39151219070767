"""What is said on a profile: its conditions, counts, the nodes that differ, and what was verified last."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

import msgspec
from msgspec.structs import replace

from springtide.engine.profiles.comparing import Registered, is_same
from springtide.engine.profiles.events import ProfileReason
from springtide.engine.profiles.judging import BAD, GOOD, REASONS, Judgement, Standing, expectation
from springtide.engine.simulation.homogeneity import agreed
from springtide.model.device import Inventory
from springtide.model.profile import (
    Condition,
    ConditionType,
    DeviceProfile,
    FamilyDevices,
    Mismatch,
    OnMismatch,
    ProfileStatus,
    StoredProfile,
    unsayable,
)
from springtide.model.refusal import Refusal

MISMATCHES_MAX: Final = 32
_NOTHING: Final[FamilyDevices] = ()
TRUE, FALSE, UNKNOWN = "True", "False", "Unknown"
_PROMISED: Final = "Every node that has registered devices has what the profile promises."


class Member(msgspec.Struct, frozen=True, kw_only=True):
    """One node that a profile describes, as it stands."""

    name: str
    registered: Registered
    judgement: Judgement


def adopted(profile: DeviceProfile, members: Sequence[Member]) -> FamilyDevices | str:
    """Return what the nodes agree on that they register, or why there is no such thing."""
    there = [each for each in members if each.judgement.standing is not Standing.JOINING]
    families = sorted({family for each in there for family in each.registered})
    devices: FamilyDevices = ()
    for family in families:
        samples = [
            (each.name, own)
            for each in there
            if isinstance(own := each.registered.get(family), Inventory)
        ]
        if not samples:
            continue
        answer = agreed(profile.name, samples, profile.homogeneity)
        if isinstance(answer, Refusal):
            return answer.text
        devices = (*devices, (family, answer.devices))
    return unsayable(devices) or devices


def unused(
    stored: StoredProfile, reason: ProfileReason, why: str, *, now_s: float
) -> ProfileStatus:
    """Return the status of a profile that cannot be used; what was known of it stays."""
    said = (
        (ConditionType.VALID, FALSE, reason, why),
        (ConditionType.VERIFIED, UNKNOWN, ProfileReason.NOT_USED, "The profile is not used."),
        (ConditionType.DEGRADED, FALSE, ProfileReason.NOT_USED, "The profile is not used."),
    )
    return replace(
        stored.status,
        observed_generation=stored.generation,
        conditions=_conditions(stored, said, now_s=now_s),
    )


def status(
    stored: StoredProfile, profile: DeviceProfile, members: Sequence[Member], *, now_s: float
) -> ProfileStatus:
    """Return the status of a profile that describes these nodes, which stand in order of their names."""
    bad = [each for each in members if each.judgement.standing in BAD]
    good = sum(each.judgement.standing in GOOD for each in members)
    seen, why_not = _seen(stored, profile, members, bad)
    said = (
        (ConditionType.VALID, TRUE, ProfileReason.ACCEPTED, "The profile is valid."),
        (ConditionType.VERIFIED, *_verified(profile, members, bad)),
        (ConditionType.DEGRADED, *_degraded(profile, bad, why_not)),
    )
    return ProfileStatus(
        conditions=_conditions(stored, said, now_s=now_s),
        observed_generation=stored.generation,
        observed_nodes=len(members),
        verified_nodes=good,
        mismatched_nodes=len(bad),
        mismatches=tuple(
            Mismatch(
                node=each.name,
                reason=REASONS[each.judgement.standing],
                message=f"{each.judgement.why[:1].upper()}{each.judgement.why[1:]}.",
            )
            for each in bad[:MISMATCHES_MAX]
        ),
        last_verified=seen,
        verified_generation=stored.generation if seen else None,
    )


def _seen(
    stored: StoredProfile,
    profile: DeviceProfile,
    members: Sequence[Member],
    bad: Sequence[Member],
) -> tuple[FamilyDevices, str]:
    """Return what new nodes are expected to register, and why nothing was adopted if it was to be."""
    known = stored.status.last_verified if profile.last_verified else ()
    standings = {each.judgement.standing for each in members}
    why, wanted = "", _NOTHING
    if profile.on_mismatch is OnMismatch.ADOPT and Standing.MISMATCH in standings:
        answer = adopted(profile, members)
        why, wanted = (answer, ()) if isinstance(answer, str) else ("", answer)
    elif standings & GOOD and not bad:
        wanted = expectation(profile)
    if not wanted or (known and is_same(known, wanted)):
        return known, why
    return wanted, why


Said = tuple[str, ProfileReason, str]


def _verified(profile: DeviceProfile, members: Sequence[Member], bad: Sequence[Member]) -> Said:
    if bad:
        return FALSE, REASONS[bad[0].judgement.standing], _named(bad)
    standings = {each.judgement.standing for each in members}
    if not standings:
        return UNKNOWN, ProfileReason.NO_NODES, "No node is described by the profile."
    if not standings & GOOD:
        return (
            UNKNOWN,
            ProfileReason.AWAITING_REGISTRATION,
            "No node that the profile describes has registered its devices yet.",
        )
    if not is_same(expectation(profile), profile.devices):
        return (
            TRUE,
            ProfileReason.ADOPTED,
            "Every node that has registered devices has what was adopted in status.lastVerified.",
        )
    if Standing.EXCEEDS in standings:
        return TRUE, ProfileReason.EXCEEDED, "Every node has what is promised, and some have more."
    return TRUE, ProfileReason.VERIFIED, _PROMISED


def _degraded(profile: DeviceProfile, bad: Sequence[Member], why_not: str) -> Said:
    if why_not:
        return TRUE, ProfileReason.HETEROGENEOUS, f"Nothing is adopted: {why_not}."
    counting = [each for each in bad if _degrades(profile, each)]
    if counting:
        return TRUE, REASONS[counting[0].judgement.standing], _named(counting)
    if bad:
        return FALSE, ProfileReason.MISMATCH, "Nodes that differ are reported only."
    return FALSE, ProfileReason.AS_PROMISED, "No node differs from the profile."


def _degrades(profile: DeviceProfile, member: Member) -> bool:
    match member.judgement.standing:
        case Standing.TIMED_OUT:
            return True
        case Standing.MALFORMED:
            return profile.on_mismatch is not OnMismatch.REPORT
        case _:
            return profile.on_mismatch is OnMismatch.QUARANTINE


def _named(bad: Sequence[Member]) -> str:
    more = f" {len(bad) - 1} more differ." if len(bad) > 1 else ""
    return f"On {bad[0].name} {bad[0].judgement.why}.{more}"


def _conditions(
    stored: StoredProfile,
    said: Sequence[tuple[ConditionType, str, ProfileReason, str]],
    *,
    now_s: float,
) -> tuple[Condition, ...]:
    known: Mapping[str, Condition] = {each.type: each for each in stored.status.conditions}
    return tuple(
        Condition(
            type=kind,
            status=state,
            reason=reason,
            message=message,
            observed_generation=stored.generation,
            changed=_since(known.get(kind), state, now_s),
        )
        for kind, state, reason, message in said
    )


def _since(known: Condition | None, state: str, now_s: float) -> str:
    if known is not None and known.status == state and known.changed:
        return known.changed
    return datetime.fromtimestamp(now_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
