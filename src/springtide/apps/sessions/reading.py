"""The objects within calls as records of the model: nodes, copies of templates, pods."""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from springtide.engine.simulation.bounds import Bounds
from springtide.engine.simulation.errors import TooLarge
from springtide.model.node import Node
from springtide.model.pod import Pod
from springtide.wire.k8s import Parts
from springtide.wire.simulation import read_node, read_pod
from springtide.wire.simulation.calls import Copies

PODS_READ_MAX: Final = 100_000
"""Parts of pods are remembered for so many pods, so that those of long ago do not stay for ever."""


class Reading:
    """Reads objects; equal parts of pods are converted once."""

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self._parts = Parts()
        self._count = 0

    def parts(self, pods: int = 1) -> Parts:
        """Return the parts with which to read so many pods."""
        self._count += pods
        if self._count > PODS_READ_MAX:
            self._parts, self._count = Parts(), pods
        return self._parts

    def pods(self, raws: Sequence[msgspec.Raw], path: str = "pods[{}]") -> list[Pod]:
        """Return the pods of a call."""
        self.must_be_one_batch(len(raws), "pods")
        parts = self.parts(len(raws))
        return [read_pod(raw, path.format(place), parts) for place, raw in enumerate(raws)]

    def nodes(self, raws: Sequence[msgspec.Raw], copies: Sequence[Copies]) -> list[Node]:
        """Return the nodes of a call, those that are copies last."""
        count = len(raws) + sum(each.count for each in copies)
        if count > self._bounds.session_nodes_max:
            raise TooLarge(
                f"the call has {count} nodes, and {self._bounds.session_nodes_max} are the most"
            )
        nodes = [read_node(raw, f"nodes[{place}]") for place, raw in enumerate(raws)]
        for place, each in enumerate(copies):
            nodes += _copied(each, f"copies[{place}].template")
        return nodes

    def must_be_one_batch(self, count: int, what: str) -> None:
        """Refuse a call with more items than one may have."""
        if count > self._bounds.batch_max:
            raise TooLarge(
                f"the call has {count} {what}, and {self._bounds.batch_max} are the most; send "
                "several calls"
            )


def _copied(copies: Copies, where: str) -> Iterator[Node]:
    template = read_node(copies.template, where)
    prefix = copies.name_prefix or template.name
    for number in range(copies.first_number, copies.first_number + copies.count):
        yield replace(template, name=f"{prefix}-{number}")
