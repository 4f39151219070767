"""How the replicas of one workload are decided, as an operator sets it."""

import msgspec

from springtide.model.replicas.knobs import SAFE, Knobs
from springtide.model.replicas.matcher import Matcher
from springtide.model.replicas.policy import Policy
from springtide.model.replicas.rules import Limits, Schedule
from springtide.model.replicas.workload import Workload


class PullSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How metrics are asked for, and what all queries share."""

    interval_ms: int = 180_000
    retry_ms: int = 30_000
    timeout_ms: int = 10_000
    export_interval_ms: int = 10_000
    scrape_interval_ms: int = 15_000
    status_max_age_ms: int = 60_000
    look_back_permille: int = 4500
    instance_label: str = "service_instance_id"
    labels: dict[str, str] = {}
    selectors: tuple[Matcher, ...] = ()
    without_selectors: tuple[str, ...] = ()


class WindowSettings(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """How long a change must have been asked for."""

    up_ms: int = 0
    down_ms: int = 0


class LabelSettings(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """How labels follow the status."""

    is_led: bool = True
    is_ready_early: bool = False
    init_wait_ms: int = 60_000


class ReplicaSettings(msgspec.Struct, frozen=True, kw_only=True):
    """All of it; built-in policies gain their defaults, custom ones are taken as they are."""

    workload: Workload
    is_enabled: bool = False
    knobs: Knobs = SAFE
    limits: Limits = Limits()
    schedule: Schedule = Schedule()
    windows: WindowSettings = WindowSettings()
    pull: PullSettings = PullSettings()
    labels: LabelSettings = LabelSettings()
    built_in: tuple[Policy, ...] = ()
    custom: tuple[Policy, ...] = ()
    cancel_after_ms: int = 0
    lease_ttl_ms: int = 15_000
    is_coordinated: bool = False
