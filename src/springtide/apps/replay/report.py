"""The report of a replay: a documented, versioned type that every output format is rendered from.

`ReplayReport` is public: its JSON form is `apiVersion: springtide.io/v1alpha1, kind: Replay`,
described in `docs/replay.md` and by the generated schema.
"""

from typing import Literal

import msgspec

from springtide.apps.headroom.report import LimitReport
from springtide.apps.planner.report import ApartPod, InputReport, NotEvaluated, ProblemReport


class ReasonPods(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How many pods are refused mainly for one reason."""

    reason: str
    pods: int


class FamilyReport(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The devices of one family in the end: how many are in use, and how much of them is given.

    `free_mib` is the free memory of devices that serve, `unusable_mib` what of it is of no use to
    pods like those that came, on average, and `fragmentation` its part; both are 0 where no pod that came asks
    for the family.
    """

    family: str
    devices: int
    in_use: int
    memory_mib: int
    memory_used_mib: int
    cores: int
    cores_used: int
    free_mib: int
    unusable_mib: int
    fragmentation: float


class RunReport(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What comes of the pods under one policy, or as they are recorded.

    `nodes_in_use` have any of the pods in the end. `emptied` are nodes without any that are in use
    under the other one of the two policies that are compared.
    """

    policy: str
    placed: int
    refused: int
    reasons: tuple[ReasonPods, ...]
    nodes_in_use: int
    emptied: tuple[str, ...]
    families: tuple[FamilyReport, ...]


class DevicesOn(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Devices of one family that a pod is given, by their positions in the node's registration."""

    family: str
    positions: tuple[int, ...]


class DecisionReport(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Where one pod goes under one policy: its node and devices, or why no node takes it.

    `refusals` are the reasons of the nodes, as headroom tells them, and `reason` is the first of them.
    """

    policy: str
    node: str = ""
    devices: tuple[DevicesOn, ...] = ()
    reason: str = ""
    refusals: tuple[LimitReport, ...] = ()


class DifferenceReport(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One pod that goes elsewhere under the second policy; `order` is its place, counted from 1.

    The decisions are in the order of the runs.
    """

    pod: str
    order: int
    created: str
    change: Literal["Placed", "Refused", "Node", "Devices"]
    decisions: tuple[DecisionReport, ...]


class ChangesReport(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How many pods differ between the two policies, by how: see `DifferenceReport.change`."""

    placed: int = 0
    refused: int = 0
    node: int = 0
    devices: int = 0


class ReplayReport(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The whole answer: `policy` and `against` are compared, and `runs` has both and what is recorded.

    `is_same`: no pod differs. `pods` came, `apart` are those that could not come, with the reasons.
    """

    api_version: Literal["springtide.io/v1alpha1"] = "springtide.io/v1alpha1"
    kind: Literal["Replay"] = "Replay"
    summary: str
    is_same: bool
    policy: str
    against: str
    pods: int
    runs: tuple[RunReport, ...]
    changes: ChangesReport
    differences: tuple[DifferenceReport, ...] = ()
    apart: tuple[ApartPod, ...] = ()
    not_evaluated: tuple[NotEvaluated, ...] = ()
    problems: tuple[ProblemReport, ...] = ()
    input: InputReport
