"""One member of a workload as others see it, and the record of who may hold state."""

from typing import Final

import msgspec

TARGET_LABEL: Final = "hpa_scaling_target"
READY_LABEL: Final = "hpa_scaling_ready"
"""What others see of a member's two labels, `1` or `0`."""


class Member(msgspec.Struct, frozen=True, kw_only=True):
    """One run of one member; members are ordered by id and name.

    `boot` is one run: a restarted member has another one. `index` is the number that a member knows by
    itself, as a pod does; elsewhere it follows from the order of all. `target` is the name of the workload,
    `address` where others of the application reach it, and `labels` what the application adds. Of pods, their
    readiness and their deletion cost are known, too.
    """

    id: int
    name: str
    has_ordinal: bool = False
    started_ms: int = 0
    is_stopping: bool = False
    index: int | None = None
    boot: str = ""
    service: str = ""
    target: str = ""
    address: str = ""
    is_target: bool = False
    is_ready: bool = False
    is_alive: bool = True
    is_pod_ready: bool = True
    deletion_cost: int = 0
    labels: dict[str, str] = {}


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """Who may hold state under a number; `boot` is one run of the member."""

    member: str
    boot: str
    at_ms: int
