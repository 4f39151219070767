"""The protocol of a policy: what is preferred among the nodes and devices that take a pod.

A class names its policies: the one for nodes scores rows in place of the devices' family, the one for
devices ranks those of a node before the family compares them in its own way. A policy never makes
possible what a family refuses. It is pure: equal questions are answered alike as long as `version` stays
the same; once that changes, all that the policy said before is out of date.
"""

from collections.abc import Mapping
from typing import Protocol

from springtide.engine.placement.classes import PodClass
from springtide.engine.placement.family import Ask, Rows
from springtide.model.columns import Float32
from springtide.model.device import DeviceView
from springtide.model.ledger import Ledger

Ranks = tuple[int, ...]
"""A number per device of a node, by position; the lowest is tried first. Empty: all are equal."""


class Policy(Protocol):
    """How nodes and devices are preferred where a class of pods, or the configuration, names it."""

    @property
    def version(self) -> int:
        """Return a number that changes when everything it said is out of date."""
        ...

    def see(self, pod_class: PodClass, count: int = 1) -> None:
        """Count pods that ask for a place or hold one; once a pod, before it is placed."""
        ...

    def scores(self, pod_class: PodClass, ledger: Ledger, rows: Rows) -> Float32:
        """Return the scores of rows that take a pod of this class; the highest is preferred."""
        ...

    def ranks(self, ask: Ask, view: DeviceView) -> Ranks:
        """Return in which order the devices of a node are tried."""
        ...


class PolicyTable:
    """The policies that there are beside those of the families, and who goes by which.

    `by_default` scores nodes for classes that ask for no device, and so name no policy.
    """

    def __init__(self, named: Mapping[str, Policy], *, by_default: str = "") -> None:
        self._named = named
        self._by_default = named.get(by_default)

    def for_nodes(self, pod_class: PodClass) -> Policy | None:
        """Return what scores nodes for this class, None where its families do."""
        if not pod_class.asks:
            return self._by_default
        return self._named.get(pod_class.asks[0].node_policy)

    def for_devices(self, ask: Ask) -> Policy | None:
        """Return what ranks devices for this ask, None where its family alone does."""
        if not self._named:
            return None
        tokens = (token.strip() for token in ask.device_policy.split(","))
        return next((self._named[token] for token in tokens if token in self._named), None)

    def see(self, pod_class: PodClass, count: int = 1) -> None:
        """Let every policy count pods that ask for a place or hold one, before they are placed."""
        for policy in self._named.values():
            policy.see(pod_class, count)
