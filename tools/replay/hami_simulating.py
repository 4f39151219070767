"""Recorded simulations, asked of the simulation service: every node, with its reason if it refuses.

A registration is taken as it stands, as HAMi takes it; the service resets what belongs to the copied node
alone unless it is told otherwise. Nodes with devices of several families may give the reason of any.
"""

from collections.abc import Mapping, Sequence

from springtide.engine.placement.family import DeviceFamily
from springtide.engine.simulation.filtering import Sight, filtered
from springtide.engine.simulation.judge import ForDevices, Judge
from springtide.engine.simulation.supply import Supplier
from springtide.model.node import Node
from springtide.model.pod import Pod
from springtide.model.refusal import Refusal

MALFORMED = "device registration malformed"


class Simulating:
    """The service on the families of one scenario."""

    def __init__(self, families: Mapping[str, DeviceFamily]) -> None:
        self._judge = Judge(families, ForDevices({}))
        supplier = Supplier(families, keeps_dynamic=True)
        self._sight = Sight(supplier, self._judge, lambda _text: ())

    def failed(
        self, pod: Pod, nodes: Sequence[Node]
    ) -> tuple[dict[str, tuple[str, ...]], list[str]]:
        """Return why nodes refuse a pod, and which of them because they cannot be read.

        The first reason is the service's; the others are what the devices of another family say.
        """
        groups = filtered(pod, nodes, self._sight)
        failed: dict[str, tuple[str, ...]] = {}
        malformed: list[str] = []
        for group in groups:
            for position in group.positions if group.refusal is not None else ():
                node = nodes[position]
                assert group.refusal is not None
                failed[node.name] = (group.refusal.text, *self._others(pod, node))
                if group.refusal.text.startswith(MALFORMED):
                    malformed.append(node.name)
        return failed, malformed

    def _others(self, pod: Pod, node: Node) -> list[str]:
        devices = dict(self._sight.seen(node).place.devices)
        pod_class = self._judge.class_of(pod)
        found = []
        for ask in pod_class.asks[1:]:
            view = devices[ask.family]
            answer = view if isinstance(view, Refusal) else self._judge.exact.on(ask, view)
            if isinstance(answer, Refusal):
                found.append(answer.text)
        return found
