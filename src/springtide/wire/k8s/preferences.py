"""What a pod's spec would like, as a model record; only scores read it.

It is converted once for equal words, and only if whoever reads the objects asked for it. What an
API server merges into the selectors of affinity terms is merged here for manifests.
"""

from collections.abc import Iterable, Mapping

import msgspec
from msgspec.structs import replace

from springtide.base.selectors import NodeSelectorTerm
from springtide.model.preferences import INDIFFERENT, Preferences, PreferredNodes, PreferredPods
from springtide.wire.k8s import schema
from springtide.wire.k8s.between import merged_term, to_term
from springtide.wire.k8s.parts import Parts, decoded, is_given

_AFFINITY = msgspec.json.Decoder(schema.Affinity)


def to_preferences(
    read: schema.PodSpec, parts: Parts, *, labels: Mapping[str, str] | None = None
) -> Preferences:
    """Return what the spec would like, or raise MalformedObject; `labels` are a manifest's."""
    if not parts.with_preferences:
        return INDIFFERENT
    images = _images(read)
    key = (bytes(read.affinity), images)
    found = parts.preferences(key, lambda: _preferences(read, images))
    return found if labels is None or not _has_keys(found) else _merged(found, labels)


def _images(read: schema.PodSpec) -> tuple[str, ...]:
    of_volumes = (each.image for each in read.volumes if each.image is not None)
    return (
        *[each.image for each in read.init_containers],
        *[each.image for each in read.containers],
        *[each.reference for each in of_volumes],
    )


def _preferences(read: schema.PodSpec, images: tuple[str, ...]) -> Preferences:
    affinity = schema.Affinity()
    if is_given(read.affinity):
        affinity = decoded(read.affinity, _AFFINITY, path="spec.affinity")
    near, away = affinity.pod_affinity, affinity.pod_anti_affinity
    nodes = affinity.node_affinity.preferred_during_scheduling_ignored_during_execution
    return Preferences(
        nodes=tuple(_preferred(each) for each in nodes),
        near=_weighed(near.preferred_during_scheduling_ignored_during_execution),
        away=_weighed(away.preferred_during_scheduling_ignored_during_execution),
        images=images,
    )


def _preferred(read: schema.PreferredNodeTerm) -> PreferredNodes:
    term = read.preference
    return PreferredNodes(
        read.weight,
        NodeSelectorTerm(expressions=term.match_expressions, fields=term.match_fields),
    )


def _weighed(read: Iterable[schema.WeightedPodAffinityTerm]) -> tuple[PreferredPods, ...]:
    return tuple(PreferredPods(each.weight, to_term(each.pod_affinity_term)) for each in read)


def _has_keys(found: Preferences) -> bool:
    terms = (each.term for each in (*found.near, *found.away))
    return any(term.match_label_keys or term.mismatch_label_keys for term in terms)


def _merged(found: Preferences, labels: Mapping[str, str]) -> Preferences:
    def of(preferred: tuple[PreferredPods, ...]) -> tuple[PreferredPods, ...]:
        return tuple(
            PreferredPods(each.weight, merged_term(each.term, labels)) for each in preferred
        )

    return replace(found, near=of(found.near), away=of(found.away))
