"""What a pod asks about other pods: to be spread among them, near some, away from others.

The records keep a pod's words. A term without namespaces and without a namespace selector is about
the pod's own namespace, which is the pod's to know, so equal replicas share equal records.
"""

from collections.abc import Iterator

import msgspec

from springtide.base.selectors import LabelSelector


class SpreadConstraint(msgspec.Struct, frozen=True, kw_only=True, cache_hash=True, gc=False):
    """How unevenly equal pods may lie over the domains of one node label.

    A soft constraint (`is_hard` is False) never excludes a node. `match_label_keys` are labels that
    counted pods must have in common with the pod, as far as it has them.
    """

    max_skew: int
    topology_key: str
    is_hard: bool = True
    selector: LabelSelector | None = None
    domains_min: int = 1
    honors_affinity: bool = True
    honors_taints: bool = False
    match_label_keys: tuple[str, ...] = ()


class AffinityTerm(msgspec.Struct, frozen=True, kw_only=True, cache_hash=True, gc=False):
    """Which pods a pod wants to have, or not to have, in its domain of a node label.

    An API server has merged `match_label_keys` and `mismatch_label_keys` into the selector, so they
    count only for pods that no server has seen.
    """

    topology_key: str
    selector: LabelSelector | None = None
    namespaces: tuple[str, ...] = ()
    namespace_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] = ()
    mismatch_label_keys: tuple[str, ...] = ()


class Neighbours(msgspec.Struct, frozen=True, kw_only=True, cache_hash=True, gc=False):
    """All that a pod asks about others; preferred terms exclude no node, but may be malformed."""

    spread: tuple[SpreadConstraint, ...] = ()
    affinity: tuple[AffinityTerm, ...] = ()
    anti_affinity: tuple[AffinityTerm, ...] = ()
    preferred_affinity: tuple[AffinityTerm, ...] = ()
    preferred_anti_affinity: tuple[AffinityTerm, ...] = ()

    @property
    def hard_spread(self) -> tuple[SpreadConstraint, ...]:
        """Return the constraints that may exclude a node."""
        return tuple(each for each in self.spread if each.is_hard)

    @property
    def may_exclude(self) -> bool:
        """Return whether any of it may exclude a node."""
        return bool(self.affinity or self.anti_affinity or self.hard_spread)

    def label_keys(self) -> Iterator[str]:
        """Yield the labels of pods that anything here reads."""
        for constraint in self.spread:
            yield from constraint.match_label_keys
            yield from _keys(constraint.selector)
        for term in (*self.affinity, *self.anti_affinity):
            yield from _keys(term.selector)


ALONE = Neighbours()
"""What most pods ask: nothing."""


def _keys(selector: LabelSelector | None) -> Iterator[str]:
    if selector is not None:
        yield from (key for key, _ in selector.match_labels)
        yield from (each.key for each in selector.match_expressions)
