"""What the parts of the engine take from the settings of a workload."""

from typing import Final

from msgspec.structs import replace

from springtide.engine.replicas.export import ExportRules
from springtide.engine.replicas.gates import LabelRules
from springtide.engine.replicas.leadership import Terms
from springtide.engine.replicas.policy_limits import PolicyWindows
from springtide.engine.replicas.queries import Asking, with_defaults
from springtide.engine.replicas.recovery import Checking
from springtide.engine.replicas.rounds import Course
from springtide.engine.replicas.windows import Windows, primed
from springtide.model.replicas.knobs import Mode
from springtide.model.replicas.policy import Policy
from springtide.model.replicas.settings import ReplicaSettings

_SECOND_MS = 1000
SAFETY_PARTS: Final = 3
PULLS_MISSED: Final = 2
"""After so many pulls without an evaluation, windows begin anew."""


def asking(settings: ReplicaSettings) -> Asking:
    """Return what all queries share."""
    pull = settings.pull
    return Asking(
        workload=settings.workload,
        selectors=pull.selectors,
        without_selectors=pull.without_selectors,
        instance_label=pull.instance_label,
        export_interval_s=pull.export_interval_ms // _SECOND_MS,
        look_back_permille=pull.look_back_permille,
    )


def policies(settings: ReplicaSettings) -> tuple[Policy, ...]:
    """Return every policy as it is asked for."""
    shared = asking(settings)
    return (*(with_defaults(each, shared) for each in settings.built_in), *settings.custom)


def course(settings: ReplicaSettings) -> Course:
    """Return how rounds go; where all are to drain, one stays expected to say so."""
    limits = settings.limits
    if settings.knobs.mode is Mode.DRAIN_ALL:
        limits = replace(limits, allows_zero=False)
    return Course(
        schedule=settings.schedule,
        limits=limits,
        knobs=settings.knobs,
        cancel_after_ms=settings.cancel_after_ms,
        silence_ms=PULLS_MISSED * settings.pull.interval_ms,
    )


def label_rules(settings: ReplicaSettings, *, has_ordinals: bool) -> LabelRules:
    """Return how labels follow; who only observes leaves everybody a place."""
    mode = settings.knobs.mode
    return LabelRules(
        schedule=settings.schedule,
        is_enabled=settings.is_enabled,
        is_led=settings.labels.is_led and mode is not Mode.OBSERVE,
        do_all_drain=mode is Mode.DRAIN_ALL,
        is_ready_early=settings.labels.is_ready_early,
        is_strict_time=settings.knobs.is_strict_time,
        slack=0 if has_ordinals else settings.knobs.rank_slack,
        init_wait_ms=settings.labels.init_wait_ms,
    )


def export_rules(settings: ReplicaSettings) -> ExportRules:
    """Return what a member goes by when it shows itself in metrics."""
    return ExportRules(
        is_enabled=settings.is_enabled,
        export_interval_ms=settings.pull.export_interval_ms,
        scrape_interval_ms=settings.pull.scrape_interval_ms,
        status_age_ms_max=settings.pull.status_max_age_ms,
        knobs=settings.knobs,
    )


def checking(settings: ReplicaSettings) -> Checking:
    """Return what is compared after an outage, and for how long."""
    is_observing = settings.knobs.mode is Mode.OBSERVE
    return Checking(
        window_down_ms=settings.windows.down_ms,
        are_labels_led=settings.labels.is_led and not is_observing,
        knobs=settings.knobs,
    )


def terms(settings: ReplicaSettings) -> Terms:
    """Return how patient those are who want to lead; a third of the lease is kept for slow clocks."""
    return Terms(
        ttl_ms=settings.lease_ttl_ms,
        safety_ms=settings.lease_ttl_ms // SAFETY_PARTS,
        pull_interval_ms=settings.pull.interval_ms,
    )


def first_windows(settings: ReplicaSettings, *, now_ms: int, expect: int) -> Windows:
    """Return the windows as they begin."""
    windows = Windows(up_ms=settings.windows.up_ms, down_ms=settings.windows.down_ms)
    return primed(windows, now_ms=now_ms, expect=expect)


def windows_after_reload(
    windows: Windows, before: ReplicaSettings, after: ReplicaSettings, *, now_ms: int, expect: int
) -> Windows:
    """Return the windows under new settings: kept, unless they or the thresholds changed."""
    if before.windows == after.windows and _thresholds(before) == _thresholds(after):
        return windows
    return first_windows(after, now_ms=now_ms, expect=expect)


def policy_windows_after_reload(
    windows: PolicyWindows, before: ReplicaSettings, after: ReplicaSettings
) -> PolicyWindows:
    """Return the policies' own windows under new settings: begun anew where thresholds changed."""
    return windows if _thresholds(before) == _thresholds(after) else PolicyWindows()


def _thresholds(settings: ReplicaSettings) -> list[tuple[str, int, int]]:
    listed = (*settings.built_in, *settings.custom)
    return [(each.name, each.up_per_replica, each.down_per_replica) for each in listed]
