"""Arguments of kube-scheduler's plugins, as a profile's `pluginConfig` states them.

Every field may be left out: what that means is filled in when a configuration is read, so that a
record of a read configuration is complete. None is a field that stays unset.
"""

from typing import TypeAlias

import msgspec

from springtide.base.selectors import NodeSelectorRequirement, NodeSelectorTerm
from springtide.model.scheduler_values import Duration, Int32, Int64


class ResourceSpec(msgspec.Struct, frozen=True, rename="camel"):
    """A resource that a score looks at, and how much it weighs."""

    name: str = ""
    weight: Int64 = 0


class ShapePoint(msgspec.Struct, frozen=True, rename="camel"):
    """One point of a line from utilization, in percent, to a score from 0 to 10."""

    utilization: Int32 = 0
    score: Int32 = 0


class CapacityRatio(msgspec.Struct, frozen=True, rename="camel"):
    """How the ratio of what is requested to what there is becomes a score."""

    shape: tuple[ShapePoint, ...] = ()


class ScoringStrategy(msgspec.Struct, frozen=True, rename="camel"):
    """How NodeResourcesFit scores a node."""

    type: str = ""
    resources: tuple[ResourceSpec, ...] = ()
    requested_to_capacity_ratio: CapacityRatio | None = None


class NodeResourcesFitArgs(msgspec.Struct, frozen=True, rename="camel"):
    """Which extended resources do not keep pods away, and how nodes are scored."""

    ignored_resources: tuple[str, ...] = ()
    ignored_resource_groups: tuple[str, ...] = ()
    scoring_strategy: ScoringStrategy | None = None


class NodeResourcesBalancedAllocationArgs(msgspec.Struct, frozen=True, rename="camel"):
    """Which resources are to be used alike."""

    resources: tuple[ResourceSpec, ...] = ()


class Requirement(msgspec.Struct, frozen=True, rename="camel"):
    """A condition on a node label or field, as written."""

    key: str = ""
    operator: str = ""
    values: tuple[str, ...] | None = None


class Term(msgspec.Struct, frozen=True, rename="camel"):
    """A node selector term, as written."""

    match_expressions: tuple[Requirement, ...] = ()
    match_fields: tuple[Requirement, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Return whether the term has no condition; such a term matches nothing."""
        return not self.match_expressions and not self.match_fields

    @property
    def node_selector_term(self) -> NodeSelectorTerm:
        """Return the term as rules read it."""
        return NodeSelectorTerm(
            expressions=_requirements(self.match_expressions),
            fields=_requirements(self.match_fields),
        )


class NodeSelector(msgspec.Struct, frozen=True, rename="camel"):
    """Terms of which a node must meet one."""

    node_selector_terms: tuple[Term, ...] = ()


class PreferredTerm(msgspec.Struct, frozen=True, rename="camel"):
    """A term that speaks for the nodes that meet it."""

    weight: Int32 = 0
    preference: Term = Term()


class AddedAffinity(msgspec.Struct, frozen=True, rename="camel"):
    """Node affinity that a profile adds to every pod's."""

    required_during_scheduling_ignored_during_execution: NodeSelector | None = None
    preferred_during_scheduling_ignored_during_execution: tuple[PreferredTerm, ...] = ()


class NodeAffinityArgs(msgspec.Struct, frozen=True, rename="camel"):
    """What NodeAffinity adds to every pod."""

    added_affinity: AddedAffinity | None = None

    @property
    def required_terms(self) -> tuple[NodeSelectorTerm, ...] | None:
        """Return the terms of which every node must meet one, None if none are added."""
        added = self.added_affinity or AddedAffinity()
        required = added.required_during_scheduling_ignored_during_execution
        if required is None:
            return None
        return tuple(each.node_selector_term for each in required.node_selector_terms)


class SelectorRequirement(msgspec.Struct, frozen=True, rename="camel"):
    """A condition on a pod label, as written."""

    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


class LabelSelector(msgspec.Struct, frozen=True, rename="camel"):
    """A label selector as written; a default constraint must not have one."""

    match_labels: dict[str, str] = {}
    match_expressions: tuple[SelectorRequirement, ...] = ()


class SpreadConstraint(msgspec.Struct, frozen=True, rename="camel"):
    """A topology spread constraint for pods without one of their own."""

    max_skew: Int32 = 0
    topology_key: str = ""
    when_unsatisfiable: str = ""
    label_selector: LabelSelector | None = None
    min_domains: Int32 | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
    match_label_keys: tuple[str, ...] = ()


class PodTopologySpreadArgs(msgspec.Struct, frozen=True, rename="camel"):
    """Constraints for pods without their own: the built-in ones (`System`) or a `List`."""

    default_constraints: tuple[SpreadConstraint, ...] = ()
    defaulting_type: str = ""


class InterPodAffinityArgs(msgspec.Struct, frozen=True, rename="camel"):
    """How affinity between pods scores."""

    hard_pod_affinity_weight: Int32 | None = None
    ignore_preferred_terms_of_existing_pods: bool = False


class DefaultPreemptionArgs(msgspec.Struct, frozen=True, rename="camel"):
    """How many nodes preemption looks at."""

    min_candidate_nodes_percentage: Int32 | None = None
    min_candidate_nodes_absolute: Int32 | None = None


class VolumeBindingArgs(msgspec.Struct, frozen=True, rename="camel"):
    """How long binding of volumes may take, and how their capacity scores."""

    bind_timeout_seconds: Int64 | None = None
    shape: tuple[ShapePoint, ...] = ()


class DynamicResourcesArgs(msgspec.Struct, frozen=True, rename="camel"):
    """How long the allocation of claims may take."""

    filter_timeout: Duration | None = None
    binding_timeout: Duration | None = None


Arguments: TypeAlias = (
    NodeResourcesFitArgs
    | NodeResourcesBalancedAllocationArgs
    | NodeAffinityArgs
    | PodTopologySpreadArgs
    | InterPodAffinityArgs
    | DefaultPreemptionArgs
    | VolumeBindingArgs
    | DynamicResourcesArgs
)


def _requirements(read: tuple[Requirement, ...]) -> tuple[NodeSelectorRequirement, ...]:
    return tuple(
        NodeSelectorRequirement(key=each.key, operator=each.operator, values=each.values or ())
        for each in read
    )
