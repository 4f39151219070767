"""What kube-scheduler 1.37 fills in where a configuration leaves something out."""

from collections.abc import Callable, Iterable
from typing import Any, Final

from msgspec.structs import replace

from springtide.base.durations import SECOND_NS
from springtide.model import plugin_arguments as arguments
from springtide.model.plugin_arguments import ResourceSpec, ScoringStrategy, ShapePoint
from springtide.model.scheduler import (
    EVERY,
    ClientConnection,
    LeaderElection,
    Plugin,
    PluginConfig,
    Plugins,
    PluginSet,
    SchedulerConfiguration,
    SchedulerProfile,
)
from springtide.model.scheduler_values import Duration
from springtide.wire.kubescheduler.names import ARGUMENTS

DEFAULT_SCHEDULER: Final = "default-scheduler"

DEFAULT_PLUGINS: Final = (
    Plugin("SchedulingGates"),
    Plugin("PrioritySort"),
    Plugin("NodeName"),
    Plugin("NodeUnschedulable"),
    Plugin("TaintToleration", 3),
    Plugin("NodeAffinity", 2),
    Plugin("NodePorts"),
    Plugin("NodeResourcesFit", 1),
    Plugin("VolumeRestrictions"),
    Plugin("NodeVolumeLimits"),
    Plugin("VolumeBinding"),
    Plugin("VolumeZone"),
    Plugin("PodTopologySpread", 2),
    Plugin("InterPodAffinity", 2),
    Plugin("DynamicResources", 2),
    Plugin("DefaultPreemption"),
    Plugin("NodeResourcesBalancedAllocation", 1),
    Plugin("ImageLocality", 1),
    Plugin("DefaultBinder"),
    Plugin("NodeDeclaredFeatures"),
)
"""The plugins of every profile, for all extension points that they have."""

_RESOURCES: Final = (ResourceSpec("cpu", 1), ResourceSpec("memory", 1))
_SHAPE: Final = (ShapePoint(0, 10), ShapePoint(100, 0))


def _seconds(count: int) -> Duration:
    return Duration(count * SECOND_NS)


def defaulted(read: SchedulerConfiguration) -> SchedulerConfiguration:
    """Return the configuration with everything filled in."""
    is_profiling = _given(read.enable_profiling, default=True)
    return replace(
        read,
        parallelism=_given(read.parallelism, default=16),
        leader_election=_leader_election(read.leader_election),
        client_connection=_client_connection(read.client_connection),
        enable_profiling=is_profiling,
        enable_contention_profiling=_given(read.enable_contention_profiling, default=is_profiling),
        percentage_of_nodes_to_score=_given(read.percentage_of_nodes_to_score, default=0),
        pod_initial_backoff_seconds=_given(read.pod_initial_backoff_seconds, default=1),
        pod_max_backoff_seconds=_given(read.pod_max_backoff_seconds, default=10),
        profiles=_profiles(read.profiles or (SchedulerProfile(),)),
    )


def _given(value: Any, *, default: Any) -> Any:
    return default if value is None else value


def _leader_election(read: LeaderElection) -> LeaderElection:
    return LeaderElection(
        leader_elect=_given(read.leader_elect, default=True),
        lease_duration=_nonzero(read.lease_duration, _seconds(15)),
        renew_deadline=_nonzero(read.renew_deadline, _seconds(10)),
        retry_period=_nonzero(read.retry_period, _seconds(2)),
        resource_lock=read.resource_lock or "leases",
        resource_name=read.resource_name or "kube-scheduler",
        resource_namespace=read.resource_namespace or "kube-system",
    )


def _nonzero(read: Duration, default: Duration) -> Duration:
    return read if read.nanoseconds else default


def _client_connection(read: ClientConnection) -> ClientConnection:
    return replace(
        read,
        content_type=read.content_type or "application/vnd.kubernetes.protobuf",
        qps=read.qps or 50.0,
        burst=read.burst or 100,
    )


# Profiles


def _profiles(read: tuple[SchedulerProfile, ...]) -> tuple[SchedulerProfile, ...]:
    # Among several, every profile has to say for whom it is.
    nameless = DEFAULT_SCHEDULER if len(read) == 1 else ""
    return tuple(
        replace(
            _profile(each),
            scheduler_name=nameless if each.scheduler_name is None else each.scheduler_name,
        )
        for each in read
    )


def _profile(read: SchedulerProfile) -> SchedulerProfile:
    plugins = read.plugins or Plugins()
    by_default = PluginSet(enabled=DEFAULT_PLUGINS)
    sets = {
        name: _merged(PluginSet(), getattr(plugins, name)) for name in Plugins.__struct_fields__
    }
    sets["multi_point"] = _merged(by_default, plugins.multi_point)
    merged = Plugins(**sets)
    return replace(
        read, plugins=merged, plugin_config=tuple(_plugin_config(read.plugin_config, merged))
    )


def _merged(by_default: PluginSet, custom: PluginSet) -> PluginSet:
    """Return the default plugins as changed: those named again keep their place."""
    disabled = custom.disabled_names
    again = {plugin.name: index for index, plugin in enumerate(custom.enabled)}
    kept = [] if EVERY in disabled else [p for p in by_default.enabled if p.name not in disabled]
    replaced = {again[plugin.name] for plugin in kept if plugin.name in again}
    enabled = [custom.enabled[again[p.name]] if p.name in again else p for p in kept]
    added = [p for index, p in enumerate(custom.enabled) if index not in replaced]
    return PluginSet(
        enabled=(*enabled, *added), disabled=tuple(Plugin(each.name) for each in custom.disabled)
    )


def _plugin_config(read: Iterable[PluginConfig], plugins: Plugins) -> Iterable[PluginConfig]:
    given = []
    for each in read:
        given.append(each.name)
        yield PluginConfig(each.name, arguments_defaulted(each.args))
    enabled = {plugin.name for _, each in plugins.points() for plugin in each.enabled}
    for name in sorted(enabled & ARGUMENTS.keys() - set(given)):
        yield PluginConfig(name, arguments_defaulted(ARGUMENTS[name]()))


# Arguments


def arguments_defaulted(args: Any) -> Any:
    """Return a plugin's arguments with everything filled in; plain data stays as it is."""
    fill = _FILLED.get(type(args))
    return args if fill is None else fill(args)


def _preemption(args: arguments.DefaultPreemptionArgs) -> arguments.DefaultPreemptionArgs:
    return arguments.DefaultPreemptionArgs(
        _given(args.min_candidate_nodes_percentage, default=10),
        _given(args.min_candidate_nodes_absolute, default=100),
    )


def _volume_binding(args: arguments.VolumeBindingArgs) -> arguments.VolumeBindingArgs:
    return arguments.VolumeBindingArgs(
        _given(args.bind_timeout_seconds, default=600), args.shape or _SHAPE
    )


def _dynamic_resources(args: arguments.DynamicResourcesArgs) -> arguments.DynamicResourcesArgs:
    return arguments.DynamicResourcesArgs(
        _given(args.filter_timeout, default=_seconds(10)),
        _given(args.binding_timeout, default=_seconds(600)),
    )


def _strategy(read: ScoringStrategy | None) -> ScoringStrategy:
    strategy = read or ScoringStrategy("LeastAllocated")
    return replace(strategy, resources=_weighed(strategy.resources))


def _weighed(read: tuple[ResourceSpec, ...]) -> tuple[ResourceSpec, ...]:
    return tuple(ResourceSpec(each.name, each.weight or 1) for each in read) or _RESOURCES


_FILLED: Final[dict[type, Callable[[Any], Any]]] = {
    arguments.NodeResourcesFitArgs: lambda args: replace(
        args, scoring_strategy=_strategy(args.scoring_strategy)
    ),
    arguments.NodeResourcesBalancedAllocationArgs: lambda args: replace(
        args, resources=_weighed(args.resources)
    ),
    arguments.PodTopologySpreadArgs: lambda args: replace(
        args, defaulting_type=args.defaulting_type or "System"
    ),
    arguments.InterPodAffinityArgs: lambda args: replace(
        args, hard_pod_affinity_weight=_given(args.hard_pod_affinity_weight, default=1)
    ),
    arguments.DefaultPreemptionArgs: _preemption,
    arguments.VolumeBindingArgs: _volume_binding,
    arguments.DynamicResourcesArgs: _dynamic_resources,
}
