"""Which plugin arguments cannot be.

Most are refused with the configuration. Those of NodeResourcesFit are only looked at when the
plugin is made, so that they are told without a path to the profile, and not at all where no profile
uses the plugin; kube-scheduler does it like that.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from springtide.base.durations import SECOND_NS
from springtide.base.selectors import term_faults
from springtide.base.selectors.faults import joined
from springtide.model import plugin_arguments as arguments
from springtide.model.plugin_arguments import (
    NodeResourcesFitArgs,
    ScoringStrategy,
    ShapePoint,
    SpreadConstraint,
    Term,
)
from springtide.wire.kubescheduler.faults import (
    Faults,
    FieldFault,
    duplicate,
    forbidden,
    invalid,
    label_name_faults,
    required,
    unsupported,
)
from springtide.wire.validation import Path, shown

PERCENT_MAX: Final = 100
SCORE_MAX: Final = 10
RATIO: Final = "RequestedToCapacityRatio"
STRATEGIES: Final = ("LeastAllocated", "MostAllocated", RATIO)
SYSTEM: Final = "System"
DEFAULTING: Final = (SYSTEM, "List")
ACTIONS: Final = ("DoNotSchedule", "ScheduleAnyway")

_PERCENT_RANGE: Final = f"not in valid range [0, {PERCENT_MAX}]"
_SCORE_RANGE: Final = f"not in valid range [0, {SCORE_MAX}]"


def argument_faults(path: Path, args: Any) -> Faults:
    """Yield what is wrong with a plugin's arguments that stand at this path."""
    check = _CHECKS.get(type(args))
    return iter(()) if check is None else check(path, args)


def _preemption(path: Path, args: arguments.DefaultPreemptionArgs) -> Faults:
    share, count = args.min_candidate_nodes_percentage or 0, args.min_candidate_nodes_absolute or 0
    share_at, count_at = (
        (*path, "minCandidateNodesPercentage"),
        (*path, "minCandidateNodesAbsolute"),
    )
    if not 0 <= share <= PERCENT_MAX:
        yield invalid(share_at, share, _PERCENT_RANGE)
    if count < 0:
        yield invalid(count_at, count, "not in valid range [0, inf)")
    if share == count == 0:
        both = "cannot be zero at the same time as"
        yield invalid(share_at, share, f"{both} {shown(count_at)}")
        yield invalid(count_at, count, f"{both} {shown(share_at)}")


def _inter_pod_affinity(path: Path, args: arguments.InterPodAffinityArgs) -> Faults:
    weight = args.hard_pod_affinity_weight or 0
    if not 0 <= weight <= PERCENT_MAX:
        yield invalid((*path, "hardPodAffinityWeight"), weight, _PERCENT_RANGE)


def _node_affinity(path: Path, args: arguments.NodeAffinityArgs) -> Faults:
    added = args.added_affinity
    if added is None:
        return
    required_terms = added.required_during_scheduling_ignored_during_execution
    if required_terms is not None:
        at = (*path, "addedAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
        for index, term in enumerate(required_terms.node_selector_terms):
            yield from _term((*at, "nodeSelectorTerms", index), term)
    at = (*path, "addedAffinity", "preferredDuringSchedulingIgnoredDuringExecution")
    for index, each in enumerate(added.preferred_during_scheduling_ignored_during_execution):
        if each.weight:
            yield from _term((*at, index), each.preference)


def _term(path: Path, term: Term) -> Iterator[FieldFault]:
    for text in term_faults(term.node_selector_term, path=shown(path)):
        yield FieldFault(path=path, text=_with_null(text, path, term))


def _with_null(text: str, path: Path, term: Term) -> str:
    """Return the text with values that were not given shown as null instead of as a list."""
    for name, conditions in (
        ("Expressions", term.match_expressions),
        ("Fields", term.match_fields),
    ):
        for index, each in enumerate(conditions):
            at = f"{shown((*path, f'match{name}', index, 'values'))}: Invalid value: "
            if each.values is None and text.startswith(f"{at}[]"):
                return text.replace(f"{at}[]", f"{at}null", 1)
    return text


def _balanced(path: Path, args: arguments.NodeResourcesBalancedAllocationArgs) -> Faults:
    seen: set[str] = set()
    for index, each in enumerate(args.resources):
        at = (*path, "resources", index)
        if each.name in seen:
            yield duplicate((*at, "name"), each.name)
        seen.add(each.name)
        if each.weight != 1:
            yield invalid((*at, "weight"), each.weight, "must be 1")


def _topology_spread(path: Path, args: arguments.PodTopologySpreadArgs) -> Faults:
    at = (*path, "defaultingType")
    if args.defaulting_type not in DEFAULTING:
        yield unsupported(at, args.defaulting_type, DEFAULTING)
    elif args.defaulting_type == SYSTEM and args.default_constraints:
        yield invalid(at, SYSTEM, "when .defaultConstraints are not empty")
    seen: set[tuple[str, str]] = set()
    for index, each in enumerate(args.default_constraints):
        here = (*path, "defaultConstraints", index)
        yield from _constraint(here, each)
        key = (each.topology_key, each.when_unsatisfiable)
        if key in seen:
            yield duplicate(here, f"{{{each.topology_key}, {each.when_unsatisfiable}}}")
        seen.add(key)


def _constraint(path: Path, read: SpreadConstraint) -> Faults:
    if read.max_skew <= 0:
        yield invalid((*path, "maxSkew"), read.max_skew, "not in valid range (0, inf)")
    if read.topology_key:
        yield from label_name_faults((*path, "topologyKey"), read.topology_key)
    else:
        yield required((*path, "topologyKey"), "can not be empty")
    if not read.when_unsatisfiable:
        yield required((*path, "whenUnsatisfiable"), "can not be empty")
    elif read.when_unsatisfiable not in ACTIONS:
        yield unsupported((*path, "whenUnsatisfiable"), read.when_unsatisfiable, ACTIONS)
    if read.label_selector is not None:
        why = "constraint must not define a selector, as they deduced for each pod"
        yield forbidden((*path, "labelSelector"), why)


def _volume_binding(path: Path, args: arguments.VolumeBindingArgs) -> Faults:
    timeout_s = args.bind_timeout_seconds or 0
    if timeout_s < 0:
        why = "invalid BindTimeoutSeconds, should not be a negative value"
        yield invalid((*path, "bindTimeoutSeconds"), timeout_s, why)
    yield from _shape((*path, "shape"), args.shape)


def _dynamic_resources(path: Path, args: arguments.DynamicResourcesArgs) -> Faults:
    if args.filter_timeout is not None and args.filter_timeout.nanoseconds < 0:
        yield invalid((*path, "filterTimeout"), args.filter_timeout, "must be zero or positive")
    if args.binding_timeout is not None and args.binding_timeout.nanoseconds < SECOND_NS:
        yield invalid((*path, "bindingTimeout"), args.binding_timeout, "must be at least 1 second")


_CHECKS: Final[Mapping[type, Callable[[Path, Any], Faults]]] = {
    arguments.DefaultPreemptionArgs: _preemption,
    arguments.InterPodAffinityArgs: _inter_pod_affinity,
    arguments.NodeAffinityArgs: _node_affinity,
    arguments.NodeResourcesBalancedAllocationArgs: _balanced,
    arguments.PodTopologySpreadArgs: _topology_spread,
    arguments.VolumeBindingArgs: _volume_binding,
    arguments.DynamicResourcesArgs: _dynamic_resources,
}


# When a plugin is made


def _fit(args: NodeResourcesFitArgs) -> Faults:
    for index, name in enumerate(args.ignored_resources):
        yield from label_name_faults(("ignoredResources", index), name)
    for index, group in enumerate(args.ignored_resource_groups):
        at = ("ignoredResourceGroups", index)
        if "/" in group:
            yield invalid(at, group, "resource group name can't contain '/'")
        yield from label_name_faults(at, group)
    if args.scoring_strategy is not None:
        yield from _strategy(("scoringStrategy",), args.scoring_strategy)


def _strategy(path: Path, read: ScoringStrategy) -> Faults:
    if read.type not in STRATEGIES:
        yield unsupported((*path, "type"), read.type, STRATEGIES)
    for index, each in enumerate(read.resources):
        if not 0 < each.weight <= PERCENT_MAX:
            why = f"resource weight of {each.name} not in valid range (0, {PERCENT_MAX}]"
            yield invalid((*path, "resources", index, "weight"), each.weight, why)
    at, ratio = (*path, "requestedToCapacityRatio"), read.requested_to_capacity_ratio
    if read.type != RATIO and ratio is not None:
        yield forbidden(at, f"must be nil when type is not {RATIO}")
    elif read.type == RATIO and ratio is None:
        yield required(at, f"must be specified when type is {RATIO}")
    elif ratio is not None:
        yield from _shape((*at, "shape"), ratio.shape)


def _shape(path: Path, points: Sequence[ShapePoint]) -> Faults:
    if not points:
        yield required(path, "at least one point must be specified")
    for index, (before, point) in enumerate(pairwise(points), 1):
        if before.utilization >= point.utilization:
            at = (*path, index, "utilization")
            yield invalid(at, point.utilization, "values must be sorted in increasing order")
            break
    for index, point in enumerate(points):
        if not 0 <= point.utilization <= PERCENT_MAX:
            yield invalid((*path, index, "utilization"), point.utilization, _PERCENT_RANGE)
        if not 0 <= point.score <= SCORE_MAX:
            yield invalid((*path, index, "score"), point.score, _SCORE_RANGE)


def _fit_fault(args: Any) -> str | None:
    found = [fault.text for fault in _fit(args)]
    return joined(found) if found else None


CONSTRUCTION_FAULTS: Final[Mapping[str, Callable[[Any], str | None]]] = {
    "NodeResourcesFit": _fit_fault
}
"""By plugin, what keeps it from being made with its arguments, as one text."""
