"""What a profile's controller wants done and told in the cluster, and by which words.

Commands say what is to be so, not what is to change: performing one again does no harm.
"""

from enum import StrEnum
from typing import Final

import msgspec

from springtide.base.taints import NO_SCHEDULE, Taint
from springtide.model.profile import MISMATCH_TAINT, ProfileStatus

VALUE_CHARS_MAX: Final = 63


class ProfileReason(StrEnum):
    """Why a condition of a profile is what it is, and what is told of a node."""

    ACCEPTED = "Accepted"
    INVALID = "Invalid"
    UNKNOWN_VENDOR = "UnknownVendor"
    CONTRADICTED = "Contradicted"
    NOT_USED = "NotUsed"
    NO_NODES = "NoNodes"
    AWAITING_REGISTRATION = "AwaitingRegistration"
    VERIFIED = "DeviceProfileVerified"
    EXCEEDED = "DeviceProfileExceeded"
    ADOPTED = "DeviceProfileAdopted"
    MISMATCH = "DeviceProfileMismatch"
    MALFORMED = "DeviceRegistrationMalformed"
    TIMED_OUT = "DeviceRegistrationTimeout"
    HETEROGENEOUS = "DevicesHeterogeneous"
    AS_PROMISED = "AsPromised"


class Quarantine(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Put the taint on a node of this uid, beside those that it has."""

    node: str
    uid: str
    taint: Taint


class Release(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Take the taint, as it is here, off a node of this uid."""

    node: str
    uid: str
    taint: Taint


class TellNode(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Record an event on a node."""

    node: str
    uid: str
    profile: str
    reason: ProfileReason
    message: str
    is_warning: bool


class WriteStatus(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Write what has been found out about a profile, if it is still what it was at this version."""

    profile: str
    uid: str
    version: str
    status: ProfileStatus


Command = Quarantine | Release | TellNode | WriteStatus
Commands = tuple[Command, ...]


def quarantine_taint(profile: str) -> Taint:
    """Return the taint of a node that is not as this profile promised.

    The value says which; and by having one, the taint is told from one that a person has put there.
    """
    value = profile[:VALUE_CHARS_MAX].rstrip("-.")
    return Taint(key=MISMATCH_TAINT, value=value, effect=NO_SCHEDULE)


def own_taint(taints: tuple[Taint, ...]) -> Taint | None:
    """Return the taint among these that a profile's controller has put there."""
    return next(
        (
            each
            for each in taints
            if each.key == MISMATCH_TAINT and each.effect == NO_SCHEDULE and each.value
        ),
        None,
    )


def is_tainted(taints: tuple[Taint, ...]) -> bool:
    """Return whether nothing can be added, because somebody has put the same taint there."""
    return any(each.key == MISMATCH_TAINT and each.effect == NO_SCHEDULE for each in taints)
