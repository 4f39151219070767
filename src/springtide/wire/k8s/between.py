"""What a pod's spec says about other pods, as model records.

An API server merges the label keys of affinity terms into their selectors when it stores a pod.
`merged` does the same for a manifest.
"""

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec
from msgspec.structs import replace

from springtide.base.selectors import LabelSelector, LabelSelectorRequirement, label_selector
from springtide.model.neighbours import ALONE, AffinityTerm, Neighbours, SpreadConstraint
from springtide.model.pod import PodSpec
from springtide.wire.errors import MalformedObject
from springtide.wire.k8s import schema
from springtide.wire.k8s.parts import decoded, is_given

HARD: Final = "DoNotSchedule"
SOFT: Final = "ScheduleAnyway"
HONOR: Final = "Honor"
IGNORE: Final = "Ignore"

_SPREAD: Final = msgspec.json.Decoder(tuple[schema.TopologySpreadConstraint, ...])


def to_neighbours(read: schema.PodSpec, affinity: schema.Affinity, *, path: str) -> Neighbours:
    """Return what the spec says about other pods, or raise MalformedObject."""
    near, away = affinity.pod_affinity, affinity.pod_anti_affinity
    hard = "requiredDuringSchedulingIgnoredDuringExecution"
    found = Neighbours(
        spread=_spread(read, path=f"{path}.topologySpreadConstraints"),
        affinity=_required(near, path=f"{path}.affinity.podAffinity.{hard}"),
        anti_affinity=_required(away, path=f"{path}.affinity.podAntiAffinity.{hard}"),
        preferred_affinity=_preferred(near),
        preferred_anti_affinity=_preferred(away),
    )
    return ALONE if found == ALONE else found


def merged(spec: PodSpec, labels: Mapping[str, str]) -> PodSpec:
    """Return the spec with the label keys of its affinity terms merged into their selectors."""
    asked = spec.neighbours
    if asked is ALONE or not any(map(_has_keys, (*asked.affinity, *asked.anti_affinity))):
        return spec
    neighbours = replace(
        asked,
        affinity=tuple(merged_term(term, labels) for term in asked.affinity),
        anti_affinity=tuple(merged_term(term, labels) for term in asked.anti_affinity),
    )
    return replace(spec, neighbours=neighbours)


def to_selector(read: schema.LabelSelector | None) -> LabelSelector | None:
    """Return a selector as the object has it; whether it makes sense is for its reader to say."""
    if read is None:
        return None
    expressions = (
        LabelSelectorRequirement(key=each.key, operator=each.operator, values=each.values)
        for each in read.match_expressions
    )
    return label_selector(read.match_labels, expressions)


def _spread(read: schema.PodSpec, *, path: str) -> tuple[SpreadConstraint, ...]:
    if not is_given(read.topology_spread_constraints):
        return ()
    constraints = decoded(read.topology_spread_constraints, _SPREAD, path=path)
    for index, each in enumerate(constraints):
        _refuse_nonsense(each, path=f"{path}[{index}]")
    return tuple(to_constraint(each) for each in constraints)


def _refuse_nonsense(read: schema.TopologySpreadConstraint, *, path: str) -> None:
    """Raise MalformedObject for what no API server takes."""
    _require_key(read.topology_key, path=path)
    if read.max_skew <= 0:
        reason = f"{read.max_skew} is not allowed; give a number above 0."
        raise MalformedObject(f"{path}.maxSkew", reason)
    if read.when_unsatisfiable not in {HARD, SOFT}:
        reason = f"{read.when_unsatisfiable!r} is not allowed; give {HARD} or {SOFT}."
        raise MalformedObject(f"{path}.whenUnsatisfiable", reason)
    if read.min_domains is not None and read.min_domains <= 0:
        reason = f"{read.min_domains} is not allowed; give a number above 0."
        raise MalformedObject(f"{path}.minDomains", reason)
    for field, policy in (
        ("nodeAffinityPolicy", read.node_affinity_policy),
        ("nodeTaintsPolicy", read.node_taints_policy),
    ):
        if policy not in {None, "", HONOR, IGNORE}:
            reason = f"{policy!r} is not allowed; give {HONOR} or {IGNORE}."
            raise MalformedObject(f"{path}.{field}", reason)


def _require_key(topology_key: str, *, path: str) -> None:
    if not topology_key:
        reason = "it is empty; give the node label whose values are the domains."
        raise MalformedObject(f"{path}.topologyKey", reason)


def to_constraint(read: schema.TopologySpreadConstraint) -> SpreadConstraint:
    """Return one constraint, with what it leaves out filled in."""
    return SpreadConstraint(
        max_skew=read.max_skew,
        topology_key=read.topology_key,
        is_hard=read.when_unsatisfiable == HARD,
        selector=to_selector(read.label_selector),
        domains_min=1 if read.min_domains is None else read.min_domains,
        honors_affinity=(read.node_affinity_policy or HONOR) == HONOR,
        honors_taints=read.node_taints_policy == HONOR,
        match_label_keys=read.match_label_keys,
    )


def _required(read: schema.PodAffinity, *, path: str) -> tuple[AffinityTerm, ...]:
    terms = read.required_during_scheduling_ignored_during_execution
    for index, each in enumerate(terms):
        _require_key(each.topology_key, path=f"{path}[{index}]")
    return _terms(terms)


def _preferred(read: schema.PodAffinity) -> tuple[AffinityTerm, ...]:
    weighted = read.preferred_during_scheduling_ignored_during_execution
    return _terms(each.pod_affinity_term for each in weighted)


def _terms(read: Iterable[schema.PodAffinityTerm]) -> tuple[AffinityTerm, ...]:
    return tuple(to_term(each) for each in read)


def to_term(read: schema.PodAffinityTerm) -> AffinityTerm:
    """Return one term as the pod has it."""
    return AffinityTerm(
        topology_key=read.topology_key,
        selector=to_selector(read.label_selector),
        namespaces=tuple(sorted(set(read.namespaces))),
        namespace_selector=to_selector(read.namespace_selector),
        match_label_keys=read.match_label_keys,
        mismatch_label_keys=read.mismatch_label_keys,
    )


def _has_keys(term: AffinityTerm) -> bool:
    return bool(term.match_label_keys or term.mismatch_label_keys)


def merged_term(term: AffinityTerm, labels: Mapping[str, str]) -> AffinityTerm:
    """Return the term with its label keys merged into its selector."""
    if term.selector is None:
        return term
    added = [
        LabelSelectorRequirement(key=key, operator=operator, values=(labels[key],))
        for operator, keys in (("In", term.match_label_keys), ("NotIn", term.mismatch_label_keys))
        for key in keys
        if key in labels
    ]
    selector = replace(term.selector, match_expressions=(*term.selector.match_expressions, *added))
    return replace(term, selector=selector, match_label_keys=(), mismatch_label_keys=())
