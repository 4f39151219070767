"""The fields of terms and constraints that choose nodes and pods."""

from msgspec import field

from springtide.base.selectors import NodeSelectorRequirement
from springtide.wire.k8s.schema.shared import Read


class LabelRequirement(Read, frozen=True):
    """One of the expressions of a label selector; the operator may be anything."""

    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


class LabelSelector(Read, frozen=True):
    """A label selector."""

    match_labels: dict[str, str] = field(default_factory=dict)
    match_expressions: tuple[LabelRequirement, ...] = ()


class PodAffinityTerm(Read, frozen=True):
    """Which pods a pod likes to be near, or away from."""

    topology_key: str = ""
    label_selector: LabelSelector | None = None
    namespaces: tuple[str, ...] = ()
    namespace_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] = ()
    mismatch_label_keys: tuple[str, ...] = ()


class WeightedPodAffinityTerm(Read, frozen=True):
    """A preference; it excludes no node."""

    weight: int = 0
    pod_affinity_term: PodAffinityTerm = PodAffinityTerm()


class PodAffinity(Read, frozen=True):
    """Pod affinity or anti-affinity."""

    required_during_scheduling_ignored_during_execution: tuple[PodAffinityTerm, ...] = ()
    preferred_during_scheduling_ignored_during_execution: tuple[WeightedPodAffinityTerm, ...] = ()


class NodeTerm(Read, frozen=True):
    """A node selector term."""

    match_expressions: tuple[NodeSelectorRequirement, ...] = ()
    match_fields: tuple[NodeSelectorRequirement, ...] = ()


class RequiredNodeAffinity(Read, frozen=True):
    """Required node affinity: at least one term must match."""

    node_selector_terms: tuple[NodeTerm, ...] = ()


class PreferredNodeTerm(Read, frozen=True):
    """A preference; it excludes no node."""

    weight: int = 0
    preference: NodeTerm = NodeTerm()


class NodeAffinity(Read, frozen=True):
    """Node affinity."""

    required_during_scheduling_ignored_during_execution: RequiredNodeAffinity | None = None
    preferred_during_scheduling_ignored_during_execution: tuple[PreferredNodeTerm, ...] = ()


class Affinity(Read, frozen=True):
    """All that a pod says about where it likes to be."""

    node_affinity: NodeAffinity = NodeAffinity()
    pod_affinity: PodAffinity = PodAffinity()
    pod_anti_affinity: PodAffinity = PodAffinity()


class TopologySpreadConstraint(Read, frozen=True):
    """A topology spread constraint."""

    max_skew: int = 0
    topology_key: str = ""
    when_unsatisfiable: str = ""
    label_selector: LabelSelector | None = None
    min_domains: int | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
    match_label_keys: tuple[str, ...] = ()
