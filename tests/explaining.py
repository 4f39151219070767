"""Asking why in tests: a cluster of nodes and pods, one pod to explain, and a naive second opinion."""

from collections.abc import Sequence

from springtide.apps.planner.families import Policies
from springtide.apps.planner.stage import Stage, staged
from springtide.engine.explain import Explained, Scene, explain
from springtide.engine.placement.classes import Classifier
from springtide.engine.placement.placing import Placement
from springtide.engine.placement.tables import Tables
from springtide.model.group import NodeGroup
from springtide.model.node import Node
from springtide.model.overlay import Overlay
from springtide.model.pod import Pod
from springtide.wire.documents import Input
from tests.builders import pod
from tests.world import FixedClock


class Cluster:
    """Some nodes and the pods on them, to be asked about further pods."""

    def __init__(
        self,
        nodes: Sequence[Node],
        placed: Sequence[Pod] = (),
        *,
        groups: Sequence[NodeGroup] = (),
        asked: Sequence[Pod] = (),
    ) -> None:
        found = Input(nodes=tuple(nodes), pods=(*placed, *asked), groups=tuple(groups))
        with staged(found, policies=Policies(), calls=None, clock=FixedClock()) as stage:
            self.stage: Stage = stage
        self.scene = Scene(
            tables=stage.tables,
            classifier=stage.classifier,
            overlay=Overlay(stage.picture.ledger),
            evictable=stage.picture.evictable,
            groups=stage.picture.groups,
            clock=FixedClock(),
        )

    def explain(self, who: Pod) -> Explained:
        """Return why the pod has no node."""
        return explain(who, self.scene)

    def fits(self, who: Pod) -> bool:
        """Whether any node takes the pod, asked node by node with nothing remembered."""
        stage = self.stage
        tables = Tables(stage.picture.ledger, stage.judges.framework, stage.families)
        pod_class = Classifier(stage.families, keys=stage.picture.read_keys).classify(who)
        rows = range(stage.picture.ledger.count)
        return any(isinstance(tables.place(pod_class, row), Placement) for row in rows)


def running(
    name: str,
    on: str,
    *,
    card: str = "",
    gpumem: int = 0,
    gpucores: int = 0,
    priority: int = 0,
    cpu: str | int = 0,
) -> Pod:
    """Return a pod that runs on a node and holds a part of one of its cards."""
    if not card:
        return pod(name, on=on, priority=priority, cpu=cpu)
    notes = {
        "hami.io/vgpu-node": on,
        "hami.io/vgpu-devices-allocated": f"{card},NVIDIA,{gpumem},{gpucores}:;",
        "hami.io/bind-phase": "success",
    }
    return pod(name, gpu=1, gpumem=gpumem, on=on, priority=priority, cpu=cpu, annotations=notes)
