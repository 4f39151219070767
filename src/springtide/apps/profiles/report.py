"""The report about device profiles: a documented, versioned type that every output format is made from.

`ProfilesReport` is public: its JSON form is `apiVersion: springtide.io/v1alpha1, kind: Profiles`,
described in `docs/profile.md` and by the generated schema.
"""

from enum import StrEnum
from typing import Literal

import msgspec

from springtide.apps.planner.report import InputReport, ProblemReport


class Verdict(StrEnum):
    """How the nodes of a profile, or one of them, compare with it."""

    VERIFIED = "Verified"
    EXCEEDS = "Exceeds"
    MISMATCH = "Mismatch"
    MALFORMED = "Malformed"
    UNREGISTERED = "Unregistered"
    NO_NODES = "NoNodes"
    INVALID = "Invalid"


class NodeVerdict(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One node that a profile describes; `why` says what differs, or is more than promised."""

    node: str
    verdict: Verdict
    why: str = ""


class ProfileReport(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One profile: what it says in short, and how its nodes compare; `source` is where it was read."""

    name: str
    source: str
    verdict: Verdict
    why: str = ""
    devices: str = ""
    node_selector: str = ""
    homogeneity: str = ""
    on_mismatch: str = ""
    registration_timeout_s: float = 0.0
    degraded: str = ""
    nodes: tuple[NodeVerdict, ...] = ()


class ProfilesReport(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The whole report. `agrees` says that no profile is invalid and no node differs from its own."""

    api_version: Literal["springtide.io/v1alpha1"] = "springtide.io/v1alpha1"
    kind: Literal["Profiles"] = "Profiles"
    summary: str
    agrees: bool
    profiles: tuple[ProfileReport, ...]
    input: InputReport
    problems: tuple[ProblemReport, ...] = ()
