"""What a scheduler profile may change about scores, and the same from its arguments."""

from typing import Final, TypeVar

import msgspec

from springtide.base.names import CPU, MEMORY
from springtide.engine.framework.plugins import EffectivePlugins
from springtide.model import plugin_arguments as arguments
from springtide.model.neighbours import SpreadConstraint
from springtide.model.node import HOSTNAME_LABEL
from springtide.model.plugin_arguments import ResourceSpec, ScoringStrategy, ShapePoint
from springtide.model.preferences import PreferredNodes
from springtide.model.scheduler import SchedulerProfile

ZONE_LABEL: Final = "topology.kubernetes.io/zone"
HARD: Final = "DoNotSchedule"
HONOR: Final = "Honor"
SYSTEM: Final = "System"

WEIGHTS: Final = (
    ("TaintToleration", 3),
    ("NodeAffinity", 2),
    ("NodeResourcesFit", 1),
    ("VolumeBinding", 1),
    ("PodTopologySpread", 2),
    ("InterPodAffinity", 2),
    ("DynamicResources", 2),
    ("NodeResourcesBalancedAllocation", 1),
    ("ImageLocality", 1),
)
"""The score plugins of a default profile in their order, with what each weighs."""

SYSTEM_SPREAD: Final = (
    SpreadConstraint(max_skew=3, topology_key=HOSTNAME_LABEL, is_hard=False),
    SpreadConstraint(max_skew=5, topology_key=ZONE_LABEL, is_hard=False),
)
"""How Kubernetes spreads pods that have no constraint of their own."""

RESOURCES: Final = (ResourceSpec(CPU, 1), ResourceSpec(MEMORY, 1))


class ScoringConfig(msgspec.Struct, frozen=True, kw_only=True):
    """Which scores count how much, and what they look at.

    `prepared` are the plugins that are asked before any row is looked at, in their order; None is
    all that have a weight.
    A spread that is Kubernetes' own (`is_system_spread`) tolerates nodes without its labels.
    """

    weights: tuple[tuple[str, int], ...] = WEIGHTS
    prepared: tuple[str, ...] | None = None
    strategy: ScoringStrategy = ScoringStrategy("LeastAllocated", RESOURCES)
    balanced: tuple[ResourceSpec, ...] = RESOURCES
    preferred_nodes: tuple[PreferredNodes, ...] = ()
    default_spread: tuple[SpreadConstraint, ...] = SYSTEM_SPREAD
    is_system_spread: bool = True
    required_affinity_weight: int = 1
    ignores_preferences_of_others: bool = False
    storage_shape: tuple[ShapePoint, ...] = (ShapePoint(0, 10), ShapePoint(100, 0))


def scoring_config(profile: SchedulerProfile, effective: EffectivePlugins) -> ScoringConfig:
    """Return what a profile says about scores; its arguments are complete."""
    fit = _given(profile, "NodeResourcesFit", arguments.NodeResourcesFitArgs())
    balanced = _given(
        profile,
        "NodeResourcesBalancedAllocation",
        arguments.NodeResourcesBalancedAllocationArgs(RESOURCES),
    )
    affinity = _given(profile, "InterPodAffinity", arguments.InterPodAffinityArgs(1))
    spread = _given(
        profile, "PodTopologySpread", arguments.PodTopologySpreadArgs(defaulting_type=SYSTEM)
    )
    volumes = _given(profile, "VolumeBinding", arguments.VolumeBindingArgs())
    by_default, is_system = ScoringConfig(), spread.defaulting_type == SYSTEM
    return ScoringConfig(
        weights=effective.weights,
        prepared=effective.points["preScore"],
        strategy=fit.scoring_strategy or by_default.strategy,
        balanced=balanced.resources,
        preferred_nodes=_added(profile),
        default_spread=SYSTEM_SPREAD if is_system else _spread(spread.default_constraints),
        is_system_spread=is_system,
        required_affinity_weight=affinity.hard_pod_affinity_weight or 0,
        ignores_preferences_of_others=affinity.ignore_preferred_terms_of_existing_pods,
        storage_shape=volumes.shape or by_default.storage_shape,
    )


ArgsT = TypeVar("ArgsT")


def _given(profile: SchedulerProfile, name: str, default: ArgsT) -> ArgsT:
    found = profile.arguments(name)
    return found if isinstance(found, type(default)) else default


def _added(profile: SchedulerProfile) -> tuple[PreferredNodes, ...]:
    args = _given(profile, "NodeAffinity", arguments.NodeAffinityArgs())
    added = args.added_affinity or arguments.AddedAffinity()
    return tuple(
        PreferredNodes(each.weight, each.preference.node_selector_term)
        for each in added.preferred_during_scheduling_ignored_during_execution
    )


def _spread(given: tuple[arguments.SpreadConstraint, ...]) -> tuple[SpreadConstraint, ...]:
    return tuple(
        SpreadConstraint(
            max_skew=each.max_skew,
            topology_key=each.topology_key,
            is_hard=each.when_unsatisfiable == HARD,
            domains_min=1 if each.min_domains is None else each.min_domains,
            honors_affinity=(each.node_affinity_policy or HONOR) == HONOR,
            honors_taints=each.node_taints_policy == HONOR,
            match_label_keys=each.match_label_keys,
        )
        for each in given
    )
