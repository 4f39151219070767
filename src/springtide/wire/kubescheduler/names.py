"""How Go names the types of the configuration; its complaints about types contain these names."""

from typing import Final

from msgspec import inspect

from springtide.model import plugin_arguments as arguments
from springtide.model import scheduler

_CORE: Final[dict[type, str]] = {
    scheduler.SchedulerConfiguration: "KubeSchedulerConfiguration",
    scheduler.SchedulerProfile: "KubeSchedulerProfile",
    scheduler.ManagedResource: "ExtenderManagedResource",
    arguments.CapacityRatio: "RequestedToCapacityRatioParam",
    arguments.ShapePoint: "UtilizationShapePoint",
    arguments.AddedAffinity: "NodeAffinity",
    arguments.PreferredTerm: "PreferredSchedulingTerm",
    arguments.Term: "NodeSelectorTerm",
    arguments.Requirement: "NodeSelectorRequirement",
    arguments.SelectorRequirement: "LabelSelectorRequirement",
    arguments.SpreadConstraint: "TopologySpreadConstraint",
}
_ELSEWHERE: Final[dict[type, str]] = {
    scheduler.LeaderElection: "v1alpha1.LeaderElectionConfiguration",
    scheduler.ClientConnection: "v1alpha1.ClientConnectionConfiguration",
}

# Fields that Go keeps in a struct of their own, which JSON does not show.
EMBEDDED: Final = dict.fromkeys(
    ("enableProfiling", "enableContentionProfiling"), "DebuggingConfiguration"
)

NAMED_TYPES: Final[dict[tuple[type, str], str]] = {
    (arguments.ScoringStrategy, "type"): "v1.ScoringStrategyType",
    (arguments.Requirement, "operator"): "v1.NodeSelectorOperator",
    (arguments.SelectorRequirement, "operator"): "v1.LabelSelectorOperator",
    (arguments.SpreadConstraint, "whenUnsatisfiable"): "v1.UnsatisfiableConstraintAction",
    (arguments.SpreadConstraint, "nodeAffinityPolicy"): "v1.NodeInclusionPolicy",
    (arguments.SpreadConstraint, "nodeTaintsPolicy"): "v1.NodeInclusionPolicy",
    (
        arguments.PodTopologySpreadArgs,
        "defaultingType",
    ): "v1.PodTopologySpreadConstraintsDefaulting",
}

_BUILT_IN: Final[dict[type, str]] = {
    inspect.DictType: "map[string]string",
    inspect.BytesType: "[]uint8",
    inspect.BoolType: "bool",
    inspect.FloatType: "float32",
    inspect.StrType: "string",
}
_INT32_MAX: Final = 2**31 - 1

ARGUMENTS: Final[dict[str, type]] = {
    "DefaultPreemption": arguments.DefaultPreemptionArgs,
    "DynamicResources": arguments.DynamicResourcesArgs,
    "InterPodAffinity": arguments.InterPodAffinityArgs,
    "NodeAffinity": arguments.NodeAffinityArgs,
    "NodeResourcesBalancedAllocation": arguments.NodeResourcesBalancedAllocationArgs,
    "NodeResourcesFit": arguments.NodeResourcesFitArgs,
    "PodTopologySpread": arguments.PodTopologySpreadArgs,
    "VolumeBinding": arguments.VolumeBindingArgs,
}
"""Plugins whose arguments have a type, and that type."""


def go_name(cls: type) -> str:
    """Return the qualified name of a record's type."""
    return _ELSEWHERE.get(cls) or f"v1.{_CORE.get(cls, cls.__name__)}"


def go_type(of: inspect.Type) -> str:
    """Return the name of a field's type."""
    match of:
        case inspect.StructType(cls=cls):
            return go_name(cls)
        case inspect.VarTupleType(item_type=item):
            return f"[]{go_type(item)}"
        case inspect.IntType(le=le):
            return "int32" if le == _INT32_MAX else "int64"
        case _:
            return _BUILT_IN[type(of)]
