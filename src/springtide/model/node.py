"""Nodes, as the API server shows them."""

from collections.abc import Mapping

import msgspec

from springtide.base.taints import Taint
from springtide.model.device_slices import ResourceSlice
from springtide.model.resources import Resources

HOSTNAME_LABEL = "kubernetes.io/hostname"


class Image(msgspec.Struct, frozen=True, gc=False):
    """A container image that a node has, under all of its names."""

    names: tuple[str, ...]
    size_bytes: int


class Node(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One node; `conditions` maps a condition's type to its status.

    `ready_since` is since when its kubelet reports Ready, if it does and says so. `declared_features` are what
    it says it can do. `images` count if they were read.
    `device_slices` are the devices of a node that does not exist yet; those of one that does are in the
    slices of its cluster.
    """

    name: str
    uid: str = ""
    labels: Mapping[str, str] = {}
    annotations: Mapping[str, str] = {}
    taints: tuple[Taint, ...] = ()
    is_unschedulable: bool = False
    provider_id: str = ""
    capacity: Resources = ()
    allocatable: Resources = ()
    conditions: Mapping[str, str] = {}
    ready_since: str = ""
    created: str = ""
    declared_features: frozenset[str] = frozenset()
    device_slices: tuple[ResourceSlice, ...] = ()
    images: tuple[Image, ...] = ()

    @property
    def is_ready(self) -> bool:
        """Return whether the kubelet reports Ready; a node without conditions counts as ready."""
        return self.conditions.get("Ready", "True") == "True"
