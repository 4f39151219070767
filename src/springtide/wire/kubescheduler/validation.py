"""Which values of a decoded configuration cannot be, in kube-scheduler's order and words."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec

from springtide.base.labels import key_faults
from springtide.base.names import is_extended_resource
from springtide.model.scheduler import (
    ClientConnection,
    Extender,
    LeaderElection,
    Plugins,
    PluginSet,
    SchedulerConfiguration,
    SchedulerProfile,
)
from springtide.wire.kubescheduler.arguments import argument_faults
from springtide.wire.kubescheduler.decoding import GROUP, VERSION
from springtide.wire.kubescheduler.faults import (
    Faults,
    FieldFault,
    as_told,
    duplicate,
    invalid,
    label_name_faults,
    required,
)
from springtide.wire.validation import Path

PERCENT_MAX: Final = 100
LEASES: Final = "leases"
REMOVED_PLUGINS: Final = frozenset({"AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits"})


def validation_faults(configuration: SchedulerConfiguration) -> tuple[FieldFault, ...]:
    """Return everything that kube-scheduler refuses about the configuration."""
    return tuple(_faults(configuration))


def _faults(read: SchedulerConfiguration) -> Faults:
    yield from _client_connection(read.client_connection)
    yield from _leader_election(read.leader_election)
    parallelism = read.parallelism or 0
    if parallelism <= 0:
        why = "should be an integer value greater than zero"
        yield invalid(("parallelism",), parallelism, why)
    yield from _profiles(read.profiles)
    yield from _percentage((), read.percentage_of_nodes_to_score)
    yield from _backoff(read.pod_initial_backoff_seconds or 0, read.pod_max_backoff_seconds or 0)
    yield from _extenders(read.extenders)


def _client_connection(read: ClientConnection) -> Faults:
    if read.burst < 0:
        yield invalid(("clientConnection", "burst"), read.burst, "must be non-negative")


def _leader_election(read: LeaderElection) -> Faults:
    if not read.leader_elect:
        return
    spans = (
        ("leaseDuration", read.lease_duration),
        ("renewDeadline", read.renew_deadline),
        ("retryPeriod", read.retry_period),
    )
    for name, span in spans:
        if span.nanoseconds <= 0:
            yield invalid(("leaderElection", name), span, "must be greater than zero")
    if read.lease_duration < read.renew_deadline:
        # The value shown is the deadline.
        why = "must be greater than `RenewDeadline`"
        yield invalid(("leaderElection", "leaseDuration"), read.renew_deadline, why)
    if read.resource_lock != LEASES:
        why = f'resourceLock value must be "{LEASES}"'
        yield invalid(("leaderElection", "resourceLock"), read.resource_lock, why)


def _percentage(path: Path, value: int | None) -> Faults:
    if value is not None and not 0 <= value <= PERCENT_MAX:
        at = (*path, "percentageOfNodesToScore")
        yield invalid(at, value, f"not in valid range [0-{PERCENT_MAX}]")


def _backoff(initial_s: int, longest_s: int) -> Faults:
    if initial_s <= 0:
        yield invalid(("podInitialBackoffSeconds",), initial_s, "must be greater than 0")
    if longest_s < initial_s:
        why = "must be greater than or equal to PodInitialBackoffSeconds"
        yield invalid(("podMaxBackoffSeconds",), longest_s, why)


# Profiles


def _profiles(profiles: Sequence[SchedulerProfile]) -> Faults:
    seen: set[str] = set()
    for index, profile in enumerate(profiles):
        path = ("profiles", index)
        name = profile.scheduler_name or ""
        if not name:
            yield required((*path, "schedulerName"))
        yield from _percentage(path, profile.percentage_of_nodes_to_score)
        yield from _removed(path, profile.plugins or Plugins())
        yield from _plugin_config(path, profile)
        if name in seen:
            # kube-scheduler shows the other profile's path here, which prints as an empty object.
            yield as_told((*path, "schedulerName"), "Duplicate value: {}")
        seen.add(name)
    yield from _queue_sort(profiles)


def _removed(path: Path, plugins: Plugins) -> Faults:
    for point, each in plugins.points():
        # Plugins for several points are not looked at here.
        for index, plugin in enumerate(each.enabled if point != "multiPoint" else ()):
            if plugin.name in REMOVED_PLUGINS:
                yield _was_removed((*path, "plugins", point, "enabled", index), plugin.name)


def _was_removed(path: Path, name: str) -> FieldFault:
    why = f'was invalid in version "{VERSION}" (KubeSchedulerConfiguration is version "{GROUP}/{VERSION}")'
    return invalid(path, name, why)


def _plugin_config(path: Path, profile: SchedulerProfile) -> Faults:
    seen: set[str] = set()
    for index, config in enumerate(profile.plugin_config):
        at = (*path, "pluginConfig", index)
        if config.name in seen:
            yield duplicate(at, config.name)
        seen.add(config.name)
        if config.name in REMOVED_PLUGINS:
            yield _was_removed(at, config.name)
        yield from argument_faults((*at, "args"), config.args)


def _queue_sort(profiles: Sequence[SchedulerProfile]) -> Faults:
    """Yield where profiles would put pods in a different order, for they share one queue."""
    first = _queue_sort_of(profiles[0])
    name = first.enabled[0].name if first.enabled else ""
    if len(first.enabled) > 1:
        at: Path = ("profiles", 0, "plugins", "queueSort", "Enabled")
        yield invalid(at, len(first.enabled), "only one queue sort plugin can be enabled")
    args = profiles[0].arguments(name) if name else None
    for index, profile in enumerate(profiles[1:], 1):
        other = _queue_sort_of(profile)
        if other != first:
            yield _differs(("profiles", index, "plugins", "queueSort"), _shown(other))
        for config in profile.plugin_config:
            if name and config.name == name and config.args != args:
                yield _differs(("profiles", index, "pluginConfig", "args"), _json(config.args))


def _differs(path: Path, shown: str) -> FieldFault:
    return as_told(path, f"Invalid value: {shown}: must be the same for all profiles")


def _queue_sort_of(profile: SchedulerProfile) -> PluginSet:
    return (profile.plugins or Plugins()).queue_sort


def _shown(read: PluginSet) -> str:
    return _json({"Enabled": _listed(read.enabled), "Disabled": _listed(read.disabled)})


def _listed(plugins: Sequence[Any]) -> list[dict[str, Any]] | None:
    return [{"Name": each.name, "Weight": each.weight} for each in plugins] or None


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


# Extenders


def _extenders(extenders: Sequence[Extender]) -> Faults:
    managed: set[str] = set()
    for index, extender in enumerate(extenders):
        path = ("extenders", index)
        if extender.prioritize_verb and extender.weight <= 0:
            why = "must have a positive weight applied to it"
            yield invalid((*path, "weight"), extender.weight, why)
        yield from _managed(path, extender, managed)
    binders = sum(bool(each.bind_verb) for each in extenders)
    if binders > 1:
        found = f"found {binders} extenders implementing bind"
        yield invalid(("extenders",), found, "only one extender can implement bind")


def _managed(path: Path, extender: Extender, seen: set[str]) -> Iterator[FieldFault]:
    for index, resource in enumerate(extender.managed_resources):
        at, name = (*path, "managedResources", index, "name"), resource.name
        if key_faults(name):
            yield from label_name_faults(at, name)
        elif not is_extended_resource(name):
            yield invalid(at, name, "is an invalid extended resource name")
        if name in seen:
            yield invalid(at, name, "duplicate extender managed resource name")
        seen.add(name)
