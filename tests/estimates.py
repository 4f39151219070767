"""Asking the estimator in tests: a template, batches of pods, bounds."""

from collections.abc import Sequence

from springtide.base.names import is_extended_resource
from springtide.engine.capacity.batches import Batch, batches
from springtide.engine.capacity.estimate import Estimate, estimate
from springtide.engine.capacity.limits import Limiter, Threshold
from springtide.engine.capacity.start import begin
from springtide.engine.framework.ask import keys_read
from springtide.engine.framework.framework import Framework, FrameworkConfig
from springtide.engine.placement.classes import Classifier
from springtide.engine.placement.tables import Tables
from springtide.engine.simulation.templates import Source, Template
from springtide.model.device import Device, Inventory
from springtide.model.ledger import Ledger
from springtide.model.node import Node
from springtide.model.overlay import Overlay
from springtide.model.pod import Pod
from springtide.vendors.nvidia import Nvidia
from tests.builders import group, node

NVIDIA = Nvidia()
FAMILIES = {NVIDIA.name: NVIDIA}


class HandClock:
    """A clock that moves when it is told to."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def monotonic_s(self) -> float:
        """Return the seconds so far."""
        return self.now_s


def template(of: Node, *, pods: Sequence[Pod] = (), devices: Sequence[Device] = ()) -> Template:
    """Return a template of this node, with the pods that run on it and its cards."""
    inventory = Inventory(NVIDIA.name, tuple(devices))
    return Template(
        group=group("group"),
        node=of,
        source=Source.INPUT,
        inventories=((NVIDIA.name, inventory),) if devices else (),
        pods=tuple(pods),
    )


def tables_of(ledger: Ledger) -> Tables:
    """Return the tables of a ledger whose NVIDIA resources no node needs to have."""
    managed = frozenset(name for name in NVIDIA.resource_names() if is_extended_resource(name))
    return Tables(ledger, Framework(FrameworkConfig(ignored_resources=managed)), FAMILIES)


def estimated(
    asked: Template,
    items: Sequence[Sequence[Pod]],
    *,
    nodes_max: int = 0,
    fastpath: bool = False,
    existing: int = 1,
    settled: int = 0,
) -> Estimate:
    """Return the estimate for these batches; `settled` nodes came after the templates were asked."""
    overlay = Overlay(Ledger())
    for index in range(existing):
        overlay.add_node(node(f"old-{index}", cpu="100m", pods=0))
    found = batched(items)
    start = begin(asked, tables_of(overlay.ledger), overlay, [each.pod_class for each in found])
    for index in range(settled):
        overlay.add_node(node(f"settled-{index}", cpu="100m", pods=0))
    with overlay.trial():
        answer = estimate(found, start, limiter(nodes_max), fastpath=fastpath)
    overlay.ledger.check()
    return answer


def batched(items: Sequence[Sequence[Pod]]) -> list[Batch]:
    """Return each list of equal pods as one batch."""
    classifier = Classifier(FAMILIES, keys=keys_read(pods[0].spec for pods in items))
    return [Batch(classifier.classify(pods[0]), tuple(pods)) for pods in items]


def in_batches(pods: Sequence[Pod]) -> list[Sequence[Pod]]:
    """Return the pods of each batch, as a plan would part them."""
    return [each.pods for each in batches(pods, Classifier(FAMILIES))]


def limiter(nodes_max: int = 0) -> Limiter:
    """Return a limiter of nodes whose time stands still."""
    return Limiter([Threshold(nodes_max)], HandClock())
