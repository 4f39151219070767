"""What a pod would like: nodes, neighbours and images, which speak for a node and exclude none.

The records keep a pod's words, apart from its `PodSpec`: pods that differ here only are alike to
every rule that excludes. Only scores read them, so a reader of objects may leave them out.
"""

import msgspec

from springtide.base.selectors import NodeSelectorTerm
from springtide.model.neighbours import AffinityTerm


class PreferredNodes(msgspec.Struct, frozen=True):
    """Nodes that a pod likes, and how much."""

    weight: int
    term: NodeSelectorTerm


class PreferredPods(msgspec.Struct, frozen=True):
    """Pods that a pod likes to be near, or away from, and how much."""

    weight: int
    term: AffinityTerm


class Preferences(msgspec.Struct, frozen=True, kw_only=True, cache_hash=True):
    """All that a pod would like; `images` are those of its containers and volumes, as written."""

    nodes: tuple[PreferredNodes, ...] = ()
    near: tuple[PreferredPods, ...] = ()
    away: tuple[PreferredPods, ...] = ()
    images: tuple[str, ...] = ()


INDIFFERENT = Preferences()
"""What is known of a pod whose preferences were not read."""
