"""Whole recorded scheduling attempts: nominated pods, what preemption finds, the event's text."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

import msgspec

from springtide.engine.attempt import Attempt, Outcome, Setting, attempt
from springtide.engine.framework.ask import PodAsk
from springtide.engine.framework.framework import Framework
from springtide.engine.framework.nominated import Nominations, Nominee
from springtide.engine.placement.classes import standing_holding
from springtide.engine.preemption import Evictable, Residents
from springtide.model.disruption import DisruptionBudget
from springtide.model.ledger import Ledger
from springtide.model.overlay import Overlay
from springtide.model.pod import Pod
from springtide.model.presence import standing
from springtide.wire.k8s import Objects, Parts, decode_pod

Case = Mapping[str, Any]


class Scene(Protocol):
    """What a case amounts to, as the product has decoded it."""

    pod: Pod
    ask: PodAsk
    framework: Framework
    ledger: Ledger
    parts: Parts


def made(case: Case, scene: Scene) -> Attempt:
    """Return our attempt at a recorded case."""
    ledger = scene.ledger
    pods = list(_pods(case["objects"], scene.parts))
    placed = [(ledger.rows[pod.node_name], pod) for pod in pods if pod.node_name in ledger.rows]
    setting = Setting(
        overlay=Overlay(ledger),
        framework=scene.framework,
        nominations=Nominations(_nominees(pods, ledger)),
        evictable=Evictable(residents=Residents(placed), budgets=_budgets(case["objects"])),
    )
    return attempt(scene.pod, scene.ask, setting)


def differences(case: Case, made: Attempt) -> list[str]:
    """Return where the attempt ended differently from the recorded one."""
    expected = case["expect"]
    recorded = {field: expected.get(field) for field in _FIELDS} | {
        "post_filter": _post_filter(expected.get("post_filter")),
        "nominated_node_taken": bool(expected.get("nominated_node_taken")),
        "unschedulable_plugins": expected.get("unschedulable_plugins", []),
        "pending_plugins": expected.get("pending_plugins", []),
    }
    # An attempt that gets as far as this is over for whoever does not choose among nodes.
    if expected.get("fit_error", "").startswith("running PreScore plugin"):
        recorded["outcome"] = Outcome.SCHEDULABLE
    ours = {
        "outcome": made.outcome,
        "num_all_nodes": len(made.names),
        "event": made.text or None if made.outcome is Outcome.UNSCHEDULABLE else None,
        "post_filter": _ours(made),
        # Where no other node would do either, it was not recorded.
        "nominated_node_taken": made.taken is not None and len(made.feasible) > 1,
        "unschedulable_plugins": list(made.unschedulable_plugins),
        "pending_plugins": [],
    }
    return [
        f"{field}: recorded {value!r}, ours {ours[field]!r}"
        for field, value in recorded.items()
        if value != ours[field]
    ]


def is_listed_difference(case: Case, found: Iterable[str]) -> bool:
    """Return whether what was found is that preemption takes pods off a count that left them out.

    PodTopologySpread does not count pods that are being deleted, but kube-scheduler subtracts them
    when it tries what evicting them would change.
    """
    pre_filter: Iterable[Case] = case["expect"]["pre_filter"]
    spread = next(each for each in pre_filter if each["plugin"] == "PodTopologySpread")
    is_about_it = all(text.startswith(("post_filter: ", "event: ")) for text in found)
    return spread["code"] == "Success" and is_about_it and any(map(_is_leaving, case["objects"]))


def _is_leaving(raw: Case) -> bool:
    is_placed = raw["kind"] == "Pod" and "nodeName" in raw["spec"]
    return is_placed and "deletionTimestamp" in raw["metadata"]


_FIELDS = ("outcome", "num_all_nodes", "event")


def _post_filter(recorded: Case | None) -> Case | None:
    if recorded is None:
        return None
    return {"nominated_node": "", **recorded}


def _ours(made: Attempt) -> Case | None:
    after = made.post_filter
    if after is None:
        return None
    victims = after.preempted.victims if after.preempted else None
    node = made.names[victims.row] if victims else ""
    return {"nominated_node": node, "code": after.code, "message": after.message}


def _pods(objects: Iterable[Case], parts: Parts) -> Iterator[Pod]:
    raw = (each for each in objects if each["kind"] == "Pod")
    pods = (decode_pod(msgspec.json.encode(each), parts) for each in raw)
    return (pod for pod in pods if not pod.is_finished)


def _nominees(pods: Iterable[Pod], ledger: Ledger) -> Iterator[Nominee]:
    for pod in pods:
        row = ledger.rows.get(pod.nominated_node)
        if not pod.node_name and row is not None:
            yield Nominee(pod, standing_holding(pod, row, presence=standing(pod)))


def _budgets(objects: Iterable[Case]) -> tuple[DisruptionBudget, ...]:
    found = Objects()
    for each in objects:
        if each["kind"] == "PodDisruptionBudget":
            raw = msgspec.json.encode(each)
            found.add_raw(raw, group="policy", kind=each["kind"], source="", at="")
    assert not found.problems, found.problems
    return tuple(found.budgets.values())
