"""A scheduler set up from its configuration: what each profile asks, and in which order.

kube-scheduler refuses a configuration here that it decoded and found valid: a plugin that does not
exist or is in the wrong place, an extender that cannot be reached safely. `set_up` does the same,
in its words and order. Nothing is opened: files that an extender needs are on the scheduler's
machine, and the caller says which of them are missing there.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from springtide.base.selectors import NodeSelectorTerm
from springtide.engine.framework.framework import FrameworkConfig
from springtide.engine.framework.plugins import (
    EffectivePlugins,
    Misconfigured,
    effective_plugins,
    names_of,
)
from springtide.engine.scoring.config import ScoringConfig, scoring_config
from springtide.model.neighbours import SpreadConstraint
from springtide.model.plugin_arguments import (
    DefaultPreemptionArgs,
    NodeAffinityArgs,
    NodeResourcesFitArgs,
    PodTopologySpreadArgs,
)
from springtide.model.scheduler import (
    Extender,
    ExtenderTLSConfig,
    PluginConfig,
    Plugins,
    SchedulerConfiguration,
    SchedulerProfile,
)

FIT: Final = "NodeResourcesFit"
NODE_AFFINITY: Final = "NodeAffinity"
PREEMPTION: Final = "DefaultPreemption"
TOPOLOGY_SPREAD: Final = "PodTopologySpread"
HONOR: Final = "Honor"
PEM: Final = b"-----BEGIN"

ConstructionFaults = Mapping[str, Callable[[Any], str | None]]
"""By plugin, what keeps it from being made with its arguments."""


class CannotSetUp(Exception):
    """The scheduler does not start; `text` is what it says, `path` leads to the part concerned."""

    def __init__(self, text: str, path: tuple[str | int, ...]) -> None:
        super().__init__(text)
        self.text = text
        self.path = path


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """One profile, ready for use; `replaced` are resources that extenders' took the place of."""

    name: str
    plugins: EffectivePlugins
    framework: FrameworkConfig
    scoring: ScoringConfig
    replaced: tuple[str, ...] = ()


class Scheduler(msgspec.Struct, frozen=True, kw_only=True):
    """A scheduler that starts: its profiles in order, and its extenders as they are called."""

    profiles: tuple[Profile, ...]
    extenders: tuple[Extender, ...]


def set_up(
    configuration: SchedulerConfiguration,
    construction_faults: ConstructionFaults,
    *,
    missing_files: Iterable[str] = (),
) -> Scheduler:
    """Return the scheduler of a valid configuration, or raise CannotSetUp."""
    missing = frozenset(missing_files)
    for index, extender in enumerate(configuration.extenders):
        fault = _tls_fault(extender.tls_config or ExtenderTLSConfig(), missing)
        if fault:
            raise CannotSetUp(f"couldn't build extenders: {fault}", ("extenders", index))
    ignored = configuration.ignored_by_scheduler
    profiles = [
        _ignoring(profile, index, ignored) if ignored else profile
        for index, profile in enumerate(configuration.profiles)
    ]
    return Scheduler(
        profiles=tuple(
            _profile(profile, index, construction_faults, before=configuration.profiles[index])
            for index, profile in enumerate(profiles)
        ),
        extenders=configuration.extenders_in_order,
    )


def _tls_fault(tls: ExtenderTLSConfig, missing: frozenset[str]) -> str:
    has_authority = bool(tls.ca_data or tls.ca_file)
    if tls.insecure and has_authority:
        return "specifying a root certificates file with the insecure flag is not allowed"
    has_pair = bool((tls.cert_data or tls.cert_file) and (tls.key_data or tls.key_file))
    gone = next((file for file in _files(tls, has_pair=has_pair) if file in missing), None)
    if gone is not None:
        return f"open {gone}: no such file or directory"
    if tls.ca_data and PEM not in tls.ca_data:
        return "unable to load root certificates: unable to parse bytes as PEM block"
    if has_pair and tls.cert_data and PEM not in tls.cert_data:
        return "tls: failed to find any PEM data in certificate input"
    if has_pair and tls.key_data and PEM not in tls.key_data:
        return "tls: failed to find any PEM data in key input"
    return ""


def _files(tls: ExtenderTLSConfig, *, has_pair: bool) -> tuple[str, ...]:
    """Return the files that are opened, in order; data stands for the file beside it."""
    found = [] if tls.ca_data else [tls.ca_file]
    if has_pair:
        found += [] if tls.cert_data else [tls.cert_file]
        found += [] if tls.key_data else [tls.key_file]
    return tuple(filter(None, found))


def _ignoring(profile: SchedulerProfile, index: int, ignored: tuple[str, ...]) -> SchedulerProfile:
    """Return the profile with what extenders manage in place of what it ignored itself."""
    args = profile.arguments(FIT)
    if not isinstance(args, NodeResourcesFitArgs):
        text = "couldn't build extenders: can't find NodeResourcesFitArgs in plugin config"
        raise CannotSetUp(text, ("profiles", index))
    changed = PluginConfig(FIT, replace(args, ignored_resources=ignored))
    configs = tuple(changed if each.name == FIT else each for each in profile.plugin_config)
    return replace(profile, plugin_config=configs)


def _profile(
    profile: SchedulerProfile,
    index: int,
    construction_faults: ConstructionFaults,
    *,
    before: SchedulerProfile,
) -> Profile:
    name, plugins = profile.scheduler_name or "", profile.plugins or Plugins()
    try:
        _construct(profile, names_of(plugins), construction_faults)
        effective = effective_plugins(plugins, name)
    except Misconfigured as fault:
        text = f"initializing profiles: creating profile for scheduler name {name}: {fault.text}"
        raise CannotSetUp(text, ("profiles", index, *fault.path)) from fault
    return Profile(
        name=name,
        plugins=effective,
        framework=_framework(profile, effective),
        scoring=scoring_config(profile, effective),
        replaced=_replaced(before, profile),
    )


def _construct(
    profile: SchedulerProfile, needed: frozenset[str], construction_faults: ConstructionFaults
) -> None:
    for name, fault_of in construction_faults.items():
        fault = fault_of(profile.arguments(name)) if name in needed else None
        if fault is not None:
            raise Misconfigured(f'initializing plugin "{name}": {fault}', "pluginConfig")


def _framework(profile: SchedulerProfile, effective: EffectivePlugins) -> FrameworkConfig:
    fit = profile.arguments(FIT)
    if not isinstance(fit, NodeResourcesFitArgs):
        fit = NodeResourcesFitArgs()
    return FrameworkConfig(
        ignored_resources=frozenset(fit.ignored_resources),
        ignored_groups=frozenset(fit.ignored_resource_groups),
        added_node_terms=_added_terms(profile),
        default_spread=_default_spread(profile),
        filters=effective.points["filter"],
        pre_filters=frozenset(effective.points["preFilter"]),
        post_filters=effective.points["postFilter"],
        preemption=_preemption(profile),
    )


def _added_terms(profile: SchedulerProfile) -> tuple[NodeSelectorTerm, ...] | None:
    args = profile.arguments(NODE_AFFINITY)
    return args.required_terms if isinstance(args, NodeAffinityArgs) else None


def _preemption(profile: SchedulerProfile) -> DefaultPreemptionArgs:
    args = profile.arguments(PREEMPTION)
    return args if isinstance(args, DefaultPreemptionArgs) else FrameworkConfig().preemption


def _default_spread(profile: SchedulerProfile) -> tuple[SpreadConstraint, ...]:
    """Return what the profile spreads pods by that state no constraint; built-in ones only prefer."""
    args = profile.arguments(TOPOLOGY_SPREAD)
    if not isinstance(args, PodTopologySpreadArgs):
        return ()
    return tuple(
        SpreadConstraint(
            max_skew=each.max_skew,
            topology_key=each.topology_key,
            is_hard=each.when_unsatisfiable == "DoNotSchedule",
            domains_min=1 if each.min_domains is None else each.min_domains,
            honors_affinity=(each.node_affinity_policy or HONOR) == HONOR,
            honors_taints=each.node_taints_policy == HONOR,
            match_label_keys=each.match_label_keys,
        )
        for each in args.default_constraints
    )


def _replaced(before: SchedulerProfile, after: SchedulerProfile) -> tuple[str, ...]:
    old, new = before.arguments(FIT), after.arguments(FIT)
    if old is new or not isinstance(old, NodeResourcesFitArgs):
        return ()
    assert isinstance(new, NodeResourcesFitArgs)
    return tuple(name for name in old.ignored_resources if name not in new.ignored_resources)
