"""What a pod that is there thinks of others: whom it keeps away, and whom it likes near or far.

An attitude is a term of the pod's affinity with the pod's own namespace filled in, so that equal
pods of one namespace share it. A malformed term voids the list that it stands in.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Final, TypedDict

import msgspec

from springtide.base.selectors import LabelSelector, MalformedSelector, compile_selector
from springtide.model.neighbours import AffinityTerm, Neighbours
from springtide.model.preferences import Preferences, PreferredPods

TERMS_CACHE_ENTRIES: Final = 4096


class Repulsion(msgspec.Struct, frozen=True, kw_only=True, cache_hash=True):
    """Whom a pod keeps out of its domain of a node label: other pods by namespace and labels."""

    topology_key: str
    selector: LabelSelector | None
    namespaces: tuple[str, ...]
    namespace_selector: LabelSelector | None

    def concerns(
        self, namespace: str, labels: Mapping[str, str], namespace_labels: Mapping[str, str]
    ) -> bool:
        """Return whether a pod of this namespace with these labels is meant."""
        is_inside = namespace in self.namespaces or compile_selector(
            self.namespace_selector
        ).matches(namespace_labels)
        return is_inside and compile_selector(self.selector).matches(labels)


class Leaning(Repulsion, frozen=True, kw_only=True, cache_hash=True):
    """Whom a pod likes in its domain of a node label, or does not where the weight is negative.

    Without a weight it is whom the pod insists on: what that is worth, a profile says.
    """

    weight: int | None


class _Terms(TypedDict):
    topology_key: str
    selector: LabelSelector | None
    namespaces: tuple[str, ...]
    namespace_selector: LabelSelector | None


@lru_cache(maxsize=TERMS_CACHE_ENTRIES)
def repulsions(terms: tuple[AffinityTerm, ...], namespace: str) -> tuple[Repulsion, ...]:
    """Return whom the terms of a pod of this namespace keep away."""
    if not _are_sound(terms):
        return ()
    return tuple(Repulsion(**_filled_in(term, namespace)) for term in terms)


@lru_cache(maxsize=TERMS_CACHE_ENTRIES)
def leanings(asked: Neighbours, preferences: Preferences, namespace: str) -> tuple[Leaning, ...]:
    """Return whom a pod of this namespace likes and dislikes to have around."""
    required = _are_sound(asked.affinity)
    return (
        *(
            Leaning(weight=None, **_filled_in(term, namespace))
            for term in (asked.affinity if required else ())
        ),
        *_weighed(preferences.near, namespace, sign=1),
        *_weighed(preferences.away, namespace, sign=-1),
    )


def _weighed(
    preferred: tuple[PreferredPods, ...], namespace: str, *, sign: int
) -> Iterator[Leaning]:
    if _are_sound(each.term for each in preferred):
        for each in preferred:
            yield Leaning(weight=sign * each.weight, **_filled_in(each.term, namespace))


def _are_sound(terms: Iterable[AffinityTerm]) -> bool:
    try:
        for term in terms:
            compile_selector(term.selector)
            compile_selector(term.namespace_selector)
    except MalformedSelector:
        return False
    return True


def _filled_in(term: AffinityTerm, namespace: str) -> _Terms:
    is_own = not term.namespaces and term.namespace_selector is None
    return {
        "topology_key": term.topology_key,
        "selector": term.selector,
        "namespaces": (namespace,) if is_own else term.namespaces,
        "namespace_selector": term.namespace_selector,
    }
