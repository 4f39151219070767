"""Recorded answers of the Cluster Autoscaler, compared with ours.

How many new nodes an estimate needs, and which pods fit the nodes that exist. A case goes the
product's own way: its objects are decoded, existing nodes and their pods make a ledger, and the
engine is asked. In an estimate, every entry of the pending pods is one batch. The result is a list of
differences as texts; none means equal.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, zip_longest
from typing import Any, Final

import msgspec
from msgspec import structs

from springtide.engine.capacity.batches import Batch
from springtide.engine.capacity.estimate import Estimate, NewNode, estimate
from springtide.engine.capacity.limits import Limiter, Threshold, cluster_room, headroom
from springtide.engine.capacity.packing import NOT_SIMULATED
from springtide.engine.capacity.schedulable import fill
from springtide.engine.capacity.start import begin
from springtide.engine.framework.ask import keys_read
from springtide.engine.framework.framework import Framework
from springtide.engine.placement.classes import Classifier, standing_holding
from springtide.engine.placement.tables import Tables
from springtide.engine.simulation.templates import Source, Template
from springtide.model.group import NodeGroup
from springtide.model.ledger import Ledger
from springtide.model.node import Node
from springtide.model.overlay import Overlay
from springtide.model.pod import Pod
from springtide.model.presence import standing
from springtide.wire.k8s import Parts, decode_node, decode_pod

Case = Mapping[str, Any]

_OTHERS: Final = frozenset({"volumes.persistentVolumeClaim", "volumes.disk", "resourceClaims"})


class StandingClock:
    """A clock that never moves: no recorded case came near its limit of time."""

    def monotonic_s(self) -> float:
        """Return zero."""
        return 0.0


def skip_reason(case: Case) -> str | None:
    """Return which rules the case needs that are not built yet, or None if it needs none."""
    given, parts = case["input"], Parts()
    needed = _fields(_pods(given), parts) & _OTHERS
    return f"not built yet: {', '.join(sorted(needed))}" if needed else None


def replay_estimate(case: Case) -> list[str]:
    """Return where our estimate differs from the recorded one."""
    return _differences(case["result"], shown(_answer(case["input"], Parts())))


def replay_schedulable(case: Case) -> list[str]:
    """Return where our filling of existing nodes differs from the recorded one."""
    given, parts = case["input"], Parts()
    overlay = Overlay(ledger_of(given, parts))
    tables = Tables(overlay.ledger, Framework(), {})
    with overlay.trial():
        filled = fill(pending_of(given, parts), tables, overlay, classifier_of(given, parts))
    ours = {
        "schedulable": {pod.name: node for pod, node in filled.placed},
        "remaining": [pod.name for pod in filled.left],
    }
    return _differences(case["result"], ours)


REPLAYS: Final[Mapping[str, Callable[[Case], list[str]]]] = {
    "estimate": replay_estimate,
    "filter-out-schedulable": replay_schedulable,
}
"""By the kind of a case; other kinds cannot be replayed yet."""


def shown(answer: Estimate) -> dict[str, Any]:
    """Return an estimate in the form of a recorded result."""
    # The peer also counts nodes that were there before and took a pod.
    return {
        "nodeCount": answer.node_count + len(answer.elsewhere),
        "scheduled": [pod.name for pod in answer.placed],
        "unscheduled": [pod.name for pod in answer.left],
        "placements": dict(_placements((*answer.nodes, *answer.elsewhere))),
    }


def _answer(given: Case, parts: Parts) -> Estimate:
    template = _template(given, parts)
    classifier = classifier_of(given, parts)
    items = []
    for entry in given["pendingPods"]:
        pods = tuple(copies_of(entry["pod"], range(entry["count"]), parts))
        items.append(Batch(classifier.classify(pods[0]), pods))
    overlay = Overlay(ledger_of(given, parts))
    tables = Tables(overlay.ledger, Framework(), {})
    start = begin(template, tables, overlay, [item.pod_class for item in items])
    with overlay.trial():
        return estimate(items, start, _limiter(given), fastpath=given["options"]["fastpath"])


def classifier_of(given: Case, parts: Parts) -> Classifier:
    """Return a classifier that knows which labels the pods' rules read."""
    specs = (pod_of(raw, parts).spec for raw in _pods(given))
    return Classifier({}, keys=keys_read(specs))


def _pods(given: Case) -> list[Case]:
    """Return every pod of a case, replicas once."""
    pods = [each["pod"] for each in (*given["pods"], *given["pendingPods"])]
    return [*pods, *given.get("template", {}).get("pods", ())]


def pending_of(given: Case, parts: Parts) -> list[Pod]:
    """Return the pending pods of a case, in order."""
    lists = [copies_of(each["pod"], range(each["count"]), parts) for each in given["pendingPods"]]
    if not given.get("interleave"):
        return list(chain.from_iterable(lists))
    return [pod for turn in zip_longest(*lists) for pod in turn if pod is not None]


def _limiter(given: Case) -> Limiter:
    options = given["options"]
    groups = [given["nodeGroup"], *given.get("similarNodeGroups", ())]
    return Limiter(
        (
            Threshold(options["maxNodesPerScaleUp"]),
            headroom([(each["maxSize"], each["targetSize"]) for each in groups]),
            cluster_room(options["maxNodesTotal"], options["currentNodeCount"]),
        ),
        StandingClock(),
    )


def _template(given: Case, parts: Parts) -> Template:
    described = given["template"]
    return Template(
        group=NodeGroup(name=given["nodeGroup"]["id"], max_size=given["nodeGroup"]["maxSize"]),
        node=node_of(described["node"], parts),
        source=Source.INPUT,
        pods=tuple(pod_of(each, parts) for each in described["pods"]),
    )


def ledger_of(given: Case, parts: Parts) -> Ledger:
    """Return the ledger of a case: its nodes, and what stands on them."""
    ledger = Ledger()
    for entry in given["nodes"]:
        ledger.add_node(node_of(entry["node"], parts))
    for entry in given["pods"]:
        copies = copies_of(entry["pod"], range(len(entry["on"])), parts)
        for pod, place in zip(copies, entry["on"], strict=True):
            ledger.hold(standing_holding(pod, ledger.rows[place], presence=standing(pod)))
    return ledger


def copies_of(raw: Case, indices: Iterable[int], parts: Parts) -> Iterator[Pod]:
    """Yield the pods of an entry: its pod under the names of these indices."""
    first = pod_of(raw, parts)
    for index in indices:
        name = f"{first.name}-{index}"
        yield structs.replace(first, name=name, uid=f"{first.namespace}/{name}")


def pod_of(raw: Case, parts: Parts) -> Pod:
    """Return the model record of a pod."""
    return decode_pod(msgspec.json.encode(raw), parts)


def node_of(raw: Case, parts: Parts) -> Node:
    """Return the model record of a node."""
    return decode_node(msgspec.json.encode(raw), parts)


def _fields(pods: Iterable[Case], parts: Parts) -> set[str]:
    return {field for raw in pods for field in pod_of(raw, parts).spec.fields}


def _placements(nodes: Sequence[NewNode]) -> Iterator[tuple[str, list[str]]]:
    """Yield the pods of each node; nodes that were merely counted are named after the last one."""
    last, counted = "", 0
    for node in nodes:
        if node.name.startswith(NOT_SIMULATED):
            counted += 1
            yield f"{last}-fake-{counted}", [NOT_SIMULATED]
        else:
            last = node.name
            yield node.name, sorted(pod.name for pod in node.pods)


def _differences(recorded: Case, ours: Case) -> list[str]:
    return [
        f"{name}: recorded {_brief(recorded[name])}, ours {_brief(found)}"
        for name, found in ours.items()
        if found != recorded[name]
    ]


def _brief(value: object, *, length_max: int = 300) -> str:
    text = repr(value)
    return text if len(text) <= length_max else f"{text[:length_max]}…"
