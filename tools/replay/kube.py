"""Recorded kube-scheduler answers about filters and scores, compared with ours.

A recorded case goes the product's own way: its objects are decoded, its nodes and assigned pods make
a ledger, and the framework judges the pending pod. The differences come back as texts; none means
equal. What each of the framework's rules says alone (PreFilter and Filter) is compared in every
case, what all rules say together, and the whole attempt, only where no other rule has a part in it.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec
import numpy as np
from msgspec.structs import replace

from springtide.engine.attempt import Attempt
from springtide.engine.framework.ask import ask_of
from springtide.engine.framework.claims_check import ClaimsCheck
from springtide.engine.framework.default_selector import selector_of
from springtide.engine.framework.fit_error import fit_error
from springtide.engine.framework.framework import (
    PASSES,
    Framework,
    FrameworkConfig,
    PreparedAsk,
    Verdicts,
)
from springtide.engine.framework.profiles import set_up
from springtide.engine.framework.rule import (
    Broken,
    Prepared,
    Ready,
    Rejected,
    Rule,
    Skipped,
    selection,
)
from springtide.engine.framework.scheduling_gates import pre_enqueue
from springtide.engine.placement.classes import standing_holding
from springtide.model.ledger import Ledger
from springtide.model.pod import Pod
from springtide.model.presence import standing
from springtide.model.refusal import Refusal
from springtide.wire.k8s import Objects, Parts, decode_node, decode_pod
from springtide.wire.k8s.kinds import group_of, reads
from springtide.wire.kubescheduler import CONSTRUCTION_FAULTS, from_json
from tools.replay import kube_attempt, kube_devices
from tools.replay.kube_scores import score_differences

Case = Mapping[str, Any]
Status = dict[str, Any]

TOPICS: Final = (
    "resources-basic",
    "resources-init",
    "resources-pod-level",
    "resources-extended",
    "resources-resize",
    "node-name",
    "taints",
    "node-affinity",
    "node-affinity-fields",
    "ports",
    "volumes-bound",
    "volumes-unbound",
    "volumes-restrictions",
    "volumes-limits",
    "gates",
    "declared-features",
    "topology-spread",
    "topology-spread-policies",
    "topology-spread-defaults",
    "pod-affinity",
    "pod-anti-affinity",
    "pod-affinity-namespaces",
    *kube_devices.TOPICS,
    "scores-images",
    "scores-preferred",
    "scores-spread",
    "scores-strategies",
    "scores-volumes",
    "nominated",
    "preemption",
    "profiles",
)
"""The topics that the framework's rules decide alone."""
MIXED: Final = "combined"
"""The topic of everything at once."""


def replay_filters(case: Case) -> list[str]:
    """Return where our verdicts differ from the recorded ones."""
    replay = _Replay(case)
    alone = replay.each_rule_alone() + replay.scores()
    made = kube_attempt.made(case, replay)
    return [
        *alone,
        *replay.all_rules_together(made),
        *kube_attempt.differences(case, made),
        *replay.allocations(),
    ]


class _Replay:
    def __init__(self, case: Case) -> None:
        parts = Parts(with_preferences=True)
        self._case = case
        self._expected = case["expect"]
        self.parts = parts
        self.pod = _pod(case["pod"], parts)
        found = _found(case["objects"])
        self.storage = found.storage
        devices = found.device_objects
        self.framework = Framework(
            _config(case.get("config")), self.storage, devices, kube_devices.device_selectors()
        )
        self.ledger = _ledger(case["objects"], parts)
        asked = ask_of(self.pod, with_identity=True, devices=devices)
        selected_by = selector_of(self.pod, found.selecting)
        self.ask = replace(asked, default_selector=selected_by)
        self._rows = np.arange(self.ledger.count)

    def scores(self) -> list[str]:
        return score_differences(self._case, self)

    def allocations(self) -> list[str]:
        return kube_devices.allocation_differences(
            self._expected, self.framework, self.ask, self.ledger
        )

    def each_rule_alone(self) -> list[str]:
        found = self._pre_enqueue_differences()
        for rule in self.framework.rules:
            prepared = rule.prepare(self.ask, self.ledger)
            found += self._pre_filter_differences(rule, prepared)
            if isinstance(prepared, Ready) and self._filters(rule):
                found += self._filter_differences(rule, prepared)
        return found

    def _pre_enqueue_differences(self) -> list[str]:
        gated = pre_enqueue(self.pod.spec)
        refusals = (gated, kube_devices.pre_enqueue(self.ask))
        ours = [_shown(each) for each in refusals if each is not None]
        expected = [_status(each) for each in self._expected.get("pre_enqueue", ())]
        return _compared("pre_enqueue", expected, ours)

    def _filters(self, rule: Rule) -> bool:
        order = self._expected.get("filter_order")
        return order is None or rule.name in order

    def _pre_filter_differences(self, rule: Rule, prepared: Prepared) -> list[str]:
        recorded = self._expected["pre_filter"]
        expected = next((each for each in recorded if each["plugin"] == rule.name), None)
        # A profile may run a plugin's Filter without its PreFilter.
        if expected is None:
            return []
        what = f"pre_filter {rule.name}"
        ours = {"plugin": rule.name, **_answer(prepared)}
        nodes = prepared.nodes if isinstance(prepared, Ready) else None
        return [
            *_compared(what, _status(expected), ours),
            *_compared(f"{what} nodes", expected.get("nodes"), _listed(nodes)),
        ]

    def _filter_differences(self, rule: Rule, prepared: Ready) -> list[str]:
        outcome = prepared.check.evaluate(self.ledger, selection(self._rows))
        found: list[str] = []
        for row, name in enumerate(self.ledger.names):
            ours: Status | None = None
            if outcome is not None and outcome.refused[row]:
                bits = 1 if outcome.detail is None else int(outcome.detail[row])
                ours = {
                    "plugin": rule.name,
                    "code": _code(is_unresolvable=bool(outcome.unresolvable[row])),
                    "reasons": list(prepared.check.reasons(bits)),
                }
                if isinstance(prepared.check, ClaimsCheck) and prepared.check.is_fault(bits):
                    ours = {**ours, **kube_devices.FAULT}
            recorded = self._expected["filter"].get(name, ())
            expected = next(
                (_no_error(each) for each in recorded if each["plugin"] == rule.name), None
            )
            if rule.name == kube_devices.RULE:
                expected = kube_devices.verdict(recorded)
            found += _compared(f"filter {name} {rule.name}", expected, ours)
        return found

    def all_rules_together(self, made: Attempt) -> list[str]:
        prepared, verdicts = made.prepared, made.verdicts
        ours = (
            _aborted(prepared.error)
            if prepared.error
            else self._combined(prepared) | self._told(prepared, self._refusals(prepared, verdicts))
        )
        recorded = _recorded(self._expected)
        return [
            difference
            for field, value in ours.items()
            for difference in _compared(field, recorded.get(field), value)
        ]

    def _refusals(self, prepared: PreparedAsk, verdicts: Verdicts) -> dict[str, Refusal | None]:
        """Return each node's refusal, None where the pod fits."""
        columns = (verdicts.rule, verdicts.detail, verdicts.unresolvable)
        rows = zip(self.ledger.names, *(column.tolist() for column in columns), strict=True)
        return {
            name: None if code == PASSES else self.framework.refusal(prepared, code, bits, is_final)
            for name, code, bits, is_final in rows
        }

    def _combined(self, prepared: PreparedAsk) -> dict[str, object]:
        if prepared.rejection is not None:
            combined = _shown(prepared.rejection)
            message = ", ".join(prepared.rejection.reasons)
            return {"pre_filter_combined": combined, "pre_filter_message": message}
        combined = {"plugin": "", "code": "Success", "reasons": []}
        return {"pre_filter_combined": combined, "nodes": _listed(prepared.nodes)}

    def _told(
        self, prepared: PreparedAsk, refusals: Mapping[str, Refusal | None]
    ) -> dict[str, object]:
        """Return what becomes of the nodes, and the sentence if none is left."""
        refused = {name: refusal for name, refusal in refusals.items() if refusal is not None}
        inside = {name: each for name, each in refused.items() if each is not prepared.outside}
        told: dict[str, object] = {
            "node_status": {name: _shown(refusal) for name, refusal in inside.items()},
            "feasible": sorted(refusals.keys() - refused.keys()),
        }
        if len(inside) < len(refused):
            told["absent_status"] = _shown(prepared.outside) if prepared.outside else None
        has_fault = any(each is not None and each.is_fault for each in refusals.values())
        if len(refused) == len(refusals) and not has_fault:
            message = prepared.rejection.text if prepared.rejection else ""
            counts = Counter(refused.values()).items()
            told["fit_error"] = fit_error(len(refusals), counts, message)
        return told


def _aborted(error: str) -> dict[str, object]:
    """Return what is told of an attempt that a rule ended because it could not judge the pod."""
    plugin = error.split('"')[1]
    combined = {"plugin": plugin, "code": "Error", "reasons": [error]}
    return {"pre_filter_combined": combined, "feasible": [], "fit_error": error}


def _recorded(expected: Case) -> dict[str, object]:
    statuses: Mapping[str, Case] = expected.get("node_status", {})
    return {
        "pre_filter_combined": _status(expected["pre_filter_combined"]),
        "pre_filter_message": expected.get("pre_filter_message"),
        "nodes": expected["pre_filter_combined"].get("nodes"),
        "node_status": {name: _no_text(each) for name, each in statuses.items()},
        "feasible": expected.get("feasible", []),
        "absent_status": _status(expected.get("absent_status", {"code": ""})),
        "fit_error": expected.get("fit_error"),
    }


def _ledger(objects: Iterable[Case], parts: Parts) -> Ledger:
    ledger = Ledger()
    pods: list[Pod] = []
    namespaces: dict[str, Mapping[str, str]] = {}
    for each in objects:
        if each["kind"] == "Node":
            ledger.add_node(decode_node(msgspec.json.encode(each), parts))
        elif each["kind"] == "Pod":
            pods.append(_pod(each, parts))
        elif each["kind"] == "Namespace":
            metadata = each["metadata"]
            namespaces[metadata["name"]] = metadata.get("labels", {})
    ledger.namespaces = namespaces
    for pod in pods:
        row = ledger.rows.get(pod.node_name)
        # A pod may be on a node that is gone.
        if row is not None and not pod.is_finished:
            ledger.hold(standing_holding(pod, row, presence=standing(pod, with_leanings=True)))
    return ledger


def _found(objects: Iterable[Case]) -> Objects:
    found = Objects()
    for each in objects:
        group = group_of(each["apiVersion"])
        if each["kind"] not in {"Node", "Pod"} and reads(group, each["kind"]):
            raw = msgspec.json.encode(each)
            found.add_raw(raw, group=group, kind=each["kind"], source="", at="")
    assert not found.problems, found.problems
    return found


def _pod(raw: Case, parts: Parts) -> Pod:
    return decode_pod(msgspec.json.encode(raw), parts)


def _config(raw: Case | None) -> FrameworkConfig:
    if raw is None:
        return FrameworkConfig()
    configuration = from_json(msgspec.json.encode(raw))
    (profile,) = set_up(configuration, CONSTRUCTION_FAULTS).profiles
    return profile.framework


def _answer(prepared: Prepared) -> Status:
    match prepared:
        case Skipped():
            return {"code": "Skip", "reasons": []}
        case Ready():
            return {"code": "Success", "reasons": []}
        case Broken(message=message):
            return {"code": "Error", "reasons": [message]}
        case Rejected(refusal=refusal):
            return _shown(refusal)


def _shown(refusal: Refusal) -> Status:
    if refusal.is_fault:
        return {"plugin": refusal.rule, **kube_devices.FAULT}
    return {
        "plugin": refusal.rule,
        "code": _code(is_unresolvable=refusal.is_unresolvable),
        "reasons": list(refusal.reasons),
    }


def _code(*, is_unresolvable: bool) -> str:
    return "UnschedulableAndUnresolvable" if is_unresolvable else "Unschedulable"


def _status(recorded: Case) -> Status:
    return {
        "plugin": recorded.get("plugin", ""),
        "code": recorded["code"],
        "reasons": list(recorded.get("reasons", ())),
    }


def _no_text(recorded: Case) -> Status:
    """Return a verdict without the text of a fault of DynamicResources."""
    status = _status(recorded)
    is_fault = status["code"] == "Error" and status["plugin"] == kube_devices.RULE
    return {**status, **kube_devices.FAULT} if is_fault else status


def _no_error(recorded: Case) -> Status:
    """Return a verdict; what stops kube-scheduler with an error is a refusal of ours."""
    status = _status(recorded)
    final = _code(is_unresolvable=True)
    return {**status, "code": final} if status["code"] == "Error" else status


def _listed(nodes: frozenset[str] | None) -> list[str] | None:
    return None if nodes is None else sorted(nodes)


def _compared(what: str, recorded: object, ours: object) -> list[str]:
    return [] if recorded == ours else [f"{what}: recorded {recorded!r}, ours {ours!r}"]
