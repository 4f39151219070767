"""ReplicasConfiguration documents: how the replicas of a stateful workload are decided.

`read_replicas` returns settings in which everything can be, or raises for the first field that
cannot. What can be but is rarely meant is told by `replica_lint`. What is unsaid has the value
that deciding nothing has: nothing is enabled, nothing is limited, no window is open.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec.structs import replace

from springtide.model.replicas.knobs import (
    LEGACY,
    SAFE,
    Allocation,
    ElectionMode,
    Knobs,
    Mode,
    Publication,
    Rounding,
    WindowMode,
)
from springtide.model.replicas.policy import Policy
from springtide.model.replicas.rules import REPLICAS_MAX, Limits, Schedule
from springtide.model.replicas.settings import (
    LabelSettings,
    PullSettings,
    ReplicaSettings,
    WindowSettings,
)
from springtide.model.replicas.workload import Workload
from springtide.wire import strict
from springtide.wire.crd.replica_entries import KIND, MetricsEntry, PolicyEntry, ReplicasDocument
from springtide.wire.crd.replica_policies import (
    BUILT_IN,
    BuiltIn,
    Reading,
    check_scope,
    matchers,
    read_policy,
)
from springtide.wire.crd.replica_times import second_ms, whole_ms
from springtide.wire.origin import Origin
from springtide.wire.validation import Path

POLICIES_MAX: Final = 256
RETRY_MS: Final = 30_000
LEASE_MS_MIN: Final = 2_000
"""Stores count leases in whole seconds, and one is renewed three times in its life."""
_SECOND_MS: Final = 1000


def read_replicas(value: object, *, origin: Origin) -> ReplicaSettings:
    """Return the settings, or raise InvalidDocument for the first fault."""
    document = read_document(value, origin=origin)
    _check_allocation(document, origin)
    pull = _pull(document, origin)
    schedule, windows = _schedule(document, origin), _windows(document, origin)
    cancel = document.round_cancel_after
    return ReplicaSettings(
        workload=_workload(document, origin),
        is_enabled=document.controller.enabled and document.metrics.enabled,
        knobs=_knobs(document),
        limits=_limits(document, origin),
        schedule=schedule,
        windows=windows,
        pull=pull,
        labels=LabelSettings(
            is_led=document.controller.labels_led,
            is_ready_early=document.controller.early_ready,
            init_wait_ms=whole_ms(
                document.controller.init_wait, origin, ("controller", "initWait")
            ),
        ),
        built_in=tuple(_built_in(document, origin, pull)),
        custom=_custom(document, origin, pull),
        cancel_after_ms=whole_ms(cancel, origin, ("roundCancelAfter",))
        if cancel
        else windows.down_ms,
        lease_ttl_ms=second_ms(
            document.controller.lease_ttl,
            origin,
            ("controller", "leaseTtl"),
            least_ms=LEASE_MS_MIN,
        ),
        is_coordinated=_is_coordinated(document, origin),
    )


def read_document(value: object, *, origin: Origin) -> ReplicasDocument:
    """Return the document as written, or raise InvalidDocument."""
    if isinstance(value, Mapping) and value.get("kind") != KIND:
        raise origin.fault(("kind",), f"this is no {KIND}; write `kind: {KIND}`.")
    return strict.read(value, ReplicasDocument, origin=origin)


def _check_allocation(document: ReplicasDocument, origin: Origin) -> None:
    """Raise InvalidDocument where members are to keep numbers that nothing could hold for them."""
    is_in_cluster = document.store is not None and document.store.kubernetes is not None
    if is_in_cluster and document.index_allocation == "allocated":
        reason = (
            "a number that is kept hangs on a lease, and pods have none; "
            "write store.etcd instead of store.kubernetes, or sorted here."
        )
        raise origin.fault(("indexAllocation",), reason)


def _workload(document: ReplicasDocument, origin: Origin) -> Workload:
    entry = document.workload
    if not entry.name:
        reason = "without it the metrics of other workloads would count; write its name."
        raise origin.fault(("workload", "name"), reason)
    return Workload(
        name=entry.name,
        kind=entry.kind,
        api_version=entry.api_version,
        environment=entry.environment,
        service=entry.service,
        service_namespace=entry.service_namespace,
    )


def _is_coordinated(document: ReplicasDocument, origin: Origin) -> bool:
    is_coordinated = document.deployment.coordination
    if is_coordinated and document.workload.kind != "Deployment":
        reason = f"a {document.workload.kind} removes its pods in its own order; remove this."
        raise origin.fault(("deployment", "coordination"), reason)
    return is_coordinated


def _knobs(document: ReplicasDocument) -> Knobs:
    """Return the bundle of the profile with the choices that the document makes itself."""
    made: dict[str, object] = {
        "mode": document.mode and Mode(document.mode),
        "window_mode": document.window_mode and WindowMode(document.window_mode),
        "rounding": document.rounding and Rounding(document.rounding),
        "publication": document.scale_up_publish and Publication(document.scale_up_publish),
        "election": document.election and ElectionMode(document.election),
        "allocation": document.index_allocation and Allocation(document.index_allocation),
        "preempt_up": document.preempt_up,
        "waits_for_drain": document.deployment.coordination,
        "do_followers_export": document.followers_export,
    }
    bundle = LEGACY if document.profile == "legacy" else SAFE
    return replace(bundle, **{name: each for name, each in made.items() if each is not None})


def _limits(document: ReplicasDocument, origin: Origin) -> Limits:
    counts: dict[Path, int] = {
        ("replicas", "min"): document.replicas.min,
        ("replicas", "max"): document.replicas.max,
        ("scaleUp", "stepMax"): document.scale_up.step_max,
        ("scaleDown", "stepMax"): document.scale_down.step_max,
    }
    for path, number in counts.items():
        if not 0 <= number <= REPLICAS_MAX:
            reason = f"{number} replicas cannot be; write 0 for no limit, or up to {REPLICAS_MAX}."
            raise origin.fault(path, reason)
    least, most = document.replicas.min, document.replicas.max
    if most and least > most:
        raise origin.fault(("replicas", "min"), f"{least} is above max, which is {most}; lower it.")
    return Limits(
        step_up_max=document.scale_up.step_max,
        step_down_max=document.scale_down.step_max,
        replicas_min=least,
        replicas_max=most,
        allows_zero=document.profile == "legacy",
    )


def _schedule(document: ReplicasDocument, origin: Origin) -> Schedule:
    entry = document.schedule
    return Schedule(
        start_delay_ms=whole_ms(entry.start_delay, origin, ("schedule", "startDelay")),
        period_ms=whole_ms(entry.period, origin, ("schedule", "period")),
        scaling_delay_ms=whole_ms(entry.scaling_delay, origin, ("schedule", "scalingDelay")),
    )


def _windows(document: ReplicasDocument, origin: Origin) -> WindowSettings:
    return WindowSettings(
        up_ms=whole_ms(document.scale_up.window, origin, ("scaleUp", "window")),
        down_ms=whole_ms(document.scale_down.window, origin, ("scaleDown", "window")),
    )


def _pull(document: ReplicasDocument, origin: Origin) -> PullSettings:
    entry = document.metrics
    interval_ms = whole_ms(
        entry.pull_interval, origin, ("metrics", "pullInterval"), least_ms=_SECOND_MS
    )
    retry_ms = _retry_ms(entry, origin, interval_ms)
    path: Path = ("metrics", "exportInterval")
    export_ms = second_ms(entry.export_interval, origin, path, least_ms=_SECOND_MS)
    check_scope(
        entry.selectors,
        entry.without_selectors,
        Reading(origin=origin, path=("metrics",), export_interval_ms=export_ms),
    )
    return PullSettings(
        interval_ms=interval_ms,
        retry_ms=retry_ms,
        timeout_ms=whole_ms(
            entry.pull_timeout, origin, ("metrics", "pullTimeout"), least_ms=_SECOND_MS
        ),
        export_interval_ms=export_ms,
        scrape_interval_ms=whole_ms(
            entry.scrape_interval, origin, ("metrics", "scrapeInterval"), least_ms=_SECOND_MS
        ),
        status_max_age_ms=whole_ms(
            entry.status_max_age, origin, ("metrics", "statusMaxAge"), least_ms=_SECOND_MS
        ),
        look_back_permille=entry.look_back_permille,
        instance_label=entry.instance_label,
        labels=entry.labels,
        selectors=matchers(entry.selectors),
        without_selectors=entry.without_selectors,
    )


def _retry_ms(entry: MetricsEntry, origin: Origin, interval_ms: int) -> int:
    """Return how soon is asked again after a fault; unsaid, it is no later than the next pull."""
    path: Path = ("metrics", "pullRetryInterval")
    if not entry.pull_retry_interval:
        return min(RETRY_MS, interval_ms)
    retry_ms = whole_ms(entry.pull_retry_interval, origin, path, least_ms=_SECOND_MS)
    if retry_ms > interval_ms:
        reason = (
            f"a retry after {entry.pull_retry_interval} is later than the next pull; shorten it."
        )
        raise origin.fault(path, reason)
    return retry_ms


def _built_in(document: ReplicasDocument, origin: Origin, pull: PullSettings) -> Iterator[Policy]:
    entries = document.policies
    given = {
        "cpu": entries.cpu,
        "mainThreadCpu": entries.main_thread_cpu,
        "memory": entries.memory,
        "recentTasks": entries.recent_tasks,
        "controllerStatus": entries.controller_status,
    }
    for name, entry in given.items():
        if entry is not None:
            yield _policy(entry, origin, ("policies", name), pull, BUILT_IN[name])


def _custom(document: ReplicasDocument, origin: Origin, pull: PullSettings) -> tuple[Policy, ...]:
    entries = document.policies.custom
    if len(entries) > POLICIES_MAX:
        reason = f"{len(entries)} policies are more than {POLICIES_MAX}; remove some."
        raise origin.fault(("policies", "custom"), reason)
    found: dict[str, Policy] = {}
    for index, entry in enumerate(entries):
        path: Path = ("policies", "custom", index)
        policy = _policy(entry, origin, path, pull, None)
        if policy.name in found:
            reason = f"{policy.name} is given twice; remove one of the two."
            raise origin.fault((*path, "metric"), reason)
        found[policy.name] = policy
    return tuple(found.values())


def _policy(
    entry: PolicyEntry, origin: Origin, path: Path, pull: PullSettings, built_in: BuiltIn | None
) -> Policy:
    reading = Reading(origin=origin, path=path, export_interval_ms=pull.export_interval_ms)
    check_scope(entry.selectors, entry.without_selectors, reading)
    return read_policy(entry, reading, built_in)
