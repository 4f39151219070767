"""Asking the framework about a pod and a few nodes, for tests."""

from collections.abc import Mapping, Sequence

import numpy as np

from springtide.base import quantity
from springtide.engine.framework.ask import ask_of
from springtide.engine.framework.framework import PASSES, Framework, FrameworkConfig
from springtide.engine.placement.classes import standing_holding
from springtide.model.ledger import Ledger
from springtide.model.node import Node
from springtide.model.pod import Container, Pod, PodSpec
from springtide.model.presence import standing
from springtide.model.refusal import Refusal
from springtide.model.resources import Resources
from springtide.model.storage import Storage

ROOM = tuple((name, quantity.parse("1Gi")) for name in ("cpu", "memory", "pods"))


def asked(resources: Mapping[str, str | int]) -> Resources:
    """Return a resource list, zeros included."""
    return tuple((name, quantity.parse(str(text))) for name, text in sorted(resources.items()))


def container(resources: Mapping[str, str | int], *, is_sidecar: bool = False) -> Container:
    """Return a container that asks for these resources."""
    return Container(name="any", requests=asked(resources), is_sidecar=is_sidecar)


def pod(spec: PodSpec | None = None, *, name: str = "pending", on: str = "") -> Pod:
    """Return a pod of this spec."""
    return Pod(namespace="default", name=name, uid=name, spec=spec or PodSpec(), node_name=on)


def roomy(name: str = "node", labels: Mapping[str, str] | None = None) -> Node:
    """Return a node on which resources are never short."""
    return Node(name=name, labels=labels or {}, allocatable=ROOM)


Namespaces = Mapping[str, Mapping[str, str]]


def ledger_of(
    nodes: Sequence[Node], running: Sequence[Pod] = (), namespaces: Namespaces | None = None
) -> Ledger:
    """Return a ledger of these nodes, with what the pods on them hold."""
    ledger = Ledger()
    ledger.namespaces = namespaces or {}
    for node in nodes:
        ledger.add_node(node)
    for each in running:
        row = ledger.rows[each.node_name]
        ledger.hold(standing_holding(each, row, presence=standing(each)))
    return ledger


def answers(
    pending: Pod,
    nodes: Sequence[Node],
    running: Sequence[Pod] = (),
    config: FrameworkConfig | None = None,
    *,
    storage: Storage | None = None,
    namespaces: Namespaces | None = None,
) -> list[Refusal | None]:
    """Return each node's refusal, None where it takes the pod."""
    ledger = ledger_of(nodes, running, namespaces)
    framework = Framework(config, storage)
    prepared = framework.prepare(ask_of(pending, with_identity=True), ledger)
    verdicts = framework.evaluate(prepared, ledger, np.arange(ledger.count))
    rows = zip(
        verdicts.rule.tolist(),
        verdicts.detail.tolist(),
        verdicts.unresolvable.tolist(),
        strict=True,
    )
    return [
        None if code == PASSES else framework.refusal(prepared, code, bits, is_final)
        for code, bits, is_final in rows
    ]


def answer(
    spec: PodSpec,
    node: Node,
    running: Sequence[PodSpec] = (),
    config: FrameworkConfig | None = None,
) -> Refusal | None:
    """Return the refusal of one node on which pods of these specs run."""
    others = [pod(each, name=f"other-{index}", on=node.name) for index, each in enumerate(running)]
    (refusal,) = answers(pod(spec), [node], others, config)
    return refusal


def resolvable(rule: str, *reasons: str) -> Refusal:
    """Return a refusal that evicting pods could help."""
    return Refusal(rule=rule, reasons=reasons)


def unresolvable(rule: str, *reasons: str) -> Refusal:
    """Return a refusal that evicting pods could not help."""
    return Refusal(rule=rule, reasons=reasons, is_unresolvable=True)
