"""Workloads whose pods do not exist as objects: what a DaemonSet puts on every node."""

from collections.abc import Mapping
from typing import Final

import msgspec

from springtide.model.pod import PodSpec

HASH_LABEL: Final = "pod-template-hash"
"""What tells the replica sets of one deployment apart, and their pods."""


class DaemonSet(msgspec.Struct, frozen=True, kw_only=True):
    """One daemon set and the pod that it starts on each node that the pod fits.

    `spec` is as admission would leave it, with the tolerations that the DaemonSet controller adds.
    One that `is_critical` may push other pods off a node in order to run there.
    """

    namespace: str
    name: str
    uid: str
    spec: PodSpec
    labels: Mapping[str, str] = {}
    annotations: Mapping[str, str] = {}
    is_critical: bool = False

    @property
    def key(self) -> str:
        """Return `namespace/name`."""
        return f"{self.namespace}/{self.name}"
