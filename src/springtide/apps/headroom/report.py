"""The report of headroom: a documented, versioned type that every output format is rendered from.

`HeadroomReport` is public: its JSON form is `apiVersion: springtide.io/v1alpha1, kind: Headroom`,
described in `docs/headroom.md` and by the generated schema.
"""

from typing import Literal

import msgspec

from springtide.apps.planner.report import GangPlaces, InputReport, ProblemReport

Source = Literal["Given", "Pods", "Ladder"]


class LimitReport(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One reason for which nodes refuse the next pod, and how many nodes and devices give it.

    `devices` is 0 for reasons of whole nodes. `is_lasting`: they would refuse even if nothing ran there.
    """

    reason: str
    nodes: int
    devices: int = 0
    is_lasting: bool = False


class PoolRoom(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How many more pods of one ask fit in one pool: the largest gang that can start there.

    `nodes` take at least one, and one of them `on_one_node`. `limits` say what ends it.
    """

    pool: str
    more: int
    nodes: int
    on_one_node: int
    limits: tuple[LimitReport, ...] = ()


class AskReport(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One ask, and how many more pods like it fit now.

    `workloads` are the pods that ask so, by the names of what they are replicas of; `running` and
    `waiting` count them. `more` can start together, or more than that if `is_at_least`; the most on
    one node are `on_one_node`, on `node`. `denied` says why there can be no such pod. A step of the
    ladder names its `device` type and the `portion` of it: a part such as `1/4`, or how many.
    """

    name: str
    source: Source
    text: str
    requests: dict[str, str]
    workloads: tuple[str, ...] = ()
    running: int = 0
    waiting: int = 0
    more: int = 0
    is_at_least: bool = False
    nodes: int = 0
    on_one_node: int = 0
    node: str = ""
    pools: tuple[PoolRoom, ...] = ()
    limits: tuple[LimitReport, ...] = ()
    denied: str = ""
    device: str = ""
    portion: str = ""


class DevicesReport(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The devices of one type in a pool, and what of them is in use.

    `unused` are healthy and hold nothing; `unhealthy` are those that take no pod, cordoned ones
    included. `free_memory` counts all others by the part of their memory that is free: none, up to a
    quarter, a half, three quarters, less than all, all.
    """

    family: str
    type: str
    devices: int
    unused: int
    unhealthy: int
    memory_mib: int
    memory_used_mib: int
    cores: int
    cores_used: int
    slots: int
    slots_used: int
    free_memory: tuple[int, ...]


class PoolReport(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Nodes that are told together, and their devices by type."""

    name: str
    nodes: int
    devices: tuple[DevicesReport, ...] = ()


class HeadroomReport(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The whole answer. `pools_by` is `group`, a label, or `devices`.

    `asks_left_out` counts asks of pods beyond those that were to be answered for. `gangs` are those
    that wait.
    """

    api_version: Literal["springtide.io/v1alpha1"] = "springtide.io/v1alpha1"
    kind: Literal["Headroom"] = "Headroom"
    summary: str
    pools_by: str
    asks: tuple[AskReport, ...]
    asks_left_out: int = 0
    pools: tuple[PoolReport, ...]
    gangs: tuple[GangPlaces, ...] = ()
    problems: tuple[ProblemReport, ...] = ()
    input: InputReport
