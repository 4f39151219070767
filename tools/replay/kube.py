"""Recorded kube-scheduler answers about filters, compared with ours.

A recorded case goes the product's own way: its objects are decoded, its nodes and assigned pods make
a ledger, and the framework judges the pending pod. Each function returns the differences as texts;
none means equal. Of the recorded answer, what the rules of the framework decide is compared: each of
them alone (PreFilter and Filter), all together, and the sentence that tells that nothing fits.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec
import numpy as np

from springtide.base.names import PODS
from springtide.base.selectors import NodeSelectorTerm
from springtide.engine.framework.ask import ask_of
from springtide.engine.framework.fit_error import fit_error
from springtide.engine.framework.framework import OUTSIDE, PASSES, Framework, FrameworkConfig
from springtide.engine.framework.requests import held_requests, pod_host_ports
from springtide.engine.framework.rule import (
    Broken,
    Outcome,
    Prepared,
    Ready,
    Rejected,
    Rule,
    Skipped,
    selection,
)
from springtide.model.ledger import Holding, Ledger
from springtide.model.pod import Pod
from springtide.model.refusal import Refusal
from springtide.wire.k8s import Parts, decode_node, decode_pod

Case = Mapping[str, Any]
Verdict = dict[str, Any]

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
)
"""The topics that the framework's rules decide alone."""


def replay_filters(case: Case) -> list[str]:
    """Return where our verdicts differ from the recorded ones."""
    return _Replay(case).differences()


class _Replay:
    def __init__(self, case: Case) -> None:
        parts = Parts()
        self._expected = case["expect"]
        self._framework = Framework(_config(case.get("config"), parts))
        self._ledger = _ledger(case["objects"], parts)
        self._ask = ask_of(_pod(case["pod"], parts))
        self._rows = np.arange(self._ledger.count)

    def differences(self) -> list[str]:
        return [*self._each_alone(), *self._all_together()]

    def _each_alone(self) -> list[str]:
        order = self._expected.get("filter_order")
        found: list[str] = []
        for rule in self._framework.rules:
            prepared = rule.prepare(self._ask, self._ledger)
            found += _compared(f"pre_filter {rule.name}", self._pre_filter(rule), _shown(prepared))
            if isinstance(prepared, Ready) and (order is None or rule.name in order):
                found += self._filter_differences(rule, prepared)
        return found

    def _pre_filter(self, rule: Rule) -> Verdict:
        recorded = next(each for each in self._expected["pre_filter"] if each["plugin"] == rule.name)
        return {
            "code": recorded["code"],
            "reasons": recorded.get("reasons", []),
            "nodes": recorded.get("nodes"),
        }

    def _filter_differences(self, rule: Rule, prepared: Ready) -> list[str]:
        outcome = prepared.check.evaluate(self._ledger, selection(self._rows))
        found: list[str] = []
        for row, name in enumerate(self._ledger.names):
            recorded = self._expected["filter"].get(name, ())
            expected = next((each for each in recorded if each["plugin"] == rule.name), None)
            refusal = _row_refusal(rule, prepared, outcome, row)
            found += _compared(f"filter {name} {rule.name}", _normal(expected), _status(refusal))
        return found

    def _all_together(self) -> list[str]:
        expected, ledger = self._expected, self._ledger
        prepared = self._framework.prepare(self._ask, ledger)
        verdicts = self._framework.evaluate(prepared, ledger, self._rows)
        refusals: dict[str, Refusal | None] = {}
        for row, name in enumerate(ledger.names):
            code, bits = int(verdicts.rule[row]), int(verdicts.detail[row])
            can_help = bool(verdicts.unresolvable[row])
            refused = code != PASSES
            refusals[name] = (
                self._framework.refusal(prepared, code, bits, can_help) if refused else None
            )
        outside = [name for name, code in zip(refusals, verdicts.rule, strict=True) if code == OUTSIDE]
        statuses = {
            name: _status(refusal)
            for name, refusal in refusals.items()
            if refusal is not None and name not in outside
        }
        message = prepared.rejection.text if prepared.rejection else ""
        counted = Counter(refusal for refusal in refusals.values() if refusal is not None)
        combined = _status(prepared.rejection) or {"code": "Success", "plugin": "", "reasons": []}
        recorded = _normal(expected["pre_filter_combined"])
        found = _compared("pre_filter_combined", recorded, combined)
        if prepared.rejection is None:
            nodes = None if prepared.nodes is None else sorted(prepared.nodes)
            found += _compared(
                "pre_filter_combined nodes", expected["pre_filter_combined"].get("nodes"), nodes
            )
        feasible = sorted(name for name, refusal in refusals.items() if refusal is None)
        found += _compared("feasible", expected.get("feasible", []), feasible)
        recorded_statuses = {
            name: _normal(each) for name, each in expected.get("node_status", {}).items()
        }
        found += _compared("node_status", recorded_statuses, statuses)
        found += _compared("pre_filter_message", expected.get("pre_filter_message", ""), message)
        if outside:
            found += _compared(
                "absent_status", _normal(expected["absent_status"]), _status(prepared.outside)
            )
        if not feasible and expected["outcome"] == "unschedulable":
            text = fit_error(ledger.count, counted.items(), message)
            found += _compared("fit_error", expected["fit_error"], text)
        return found


def _ledger(objects: Iterable[Case], parts: Parts) -> Ledger:
    ledger = Ledger()
    pods: list[Pod] = []
    for each in objects:
        if each["kind"] == "Node":
            ledger.add_node(decode_node(msgspec.json.encode(each), parts))
        elif each["kind"] == "Pod":
            pods.append(_pod(each, parts))
    for pod in pods:
        row = ledger.rows.get(pod.node_name)
        if row is not None and not pod.is_finished:
            amounts = ((PODS, 1), *held_requests(pod).items())
            ports = pod_host_ports(pod.spec)
            ledger.hold(Holding(uid=pod.uid, row=row, amounts=amounts, ports=ports))
    return ledger


def _pod(raw: Case, parts: Parts) -> Pod:
    return decode_pod(msgspec.json.encode(raw), parts)


def _config(raw: Case | None, parts: Parts) -> FrameworkConfig:
    if raw is None:
        return FrameworkConfig()
    (profile,) = raw["profiles"]
    arguments = {each["name"]: each["args"] for each in profile.get("pluginConfig", ())}
    fit = arguments.get("NodeResourcesFit", {})
    disabled = profile.get("plugins", {}).get("filter", {}).get("disabled", ())
    return FrameworkConfig(
        ignored_resources=frozenset(fit.get("ignoredResources", ())),
        ignored_groups=frozenset(fit.get("ignoredResourceGroups", ())),
        added_node_terms=_added_terms(arguments.get("NodeAffinity", {}), parts),
        disabled=frozenset(each["name"] for each in disabled),
    )


def _added_terms(raw: Case, parts: Parts) -> tuple[NodeSelectorTerm, ...] | None:
    # The configuration states terms as a pod does, so a pod is what reads them.
    affinity = {"nodeAffinity": raw.get("addedAffinity", {})}
    return _pod({"metadata": {"name": "any"}, "spec": {"affinity": affinity}}, parts).spec.required_node_terms


def _row_refusal(rule: Rule, prepared: Ready, outcome: Outcome | None, row: int) -> Refusal | None:
    if outcome is None or not outcome.refused[row]:
        return None
    bits = 1 if outcome.detail is None else int(outcome.detail[row])
    return Refusal(
        rule=rule.name,
        reasons=prepared.check.reasons(bits),
        is_unresolvable=bool(outcome.unresolvable[row]),
    )


def _shown(prepared: Prepared) -> Verdict:
    match prepared:
        case Skipped():
            return {"code": "Skip", "reasons": [], "nodes": None}
        case Broken(message=message):
            return {"code": "Error", "reasons": [message], "nodes": None}
        case Rejected(refusal=refusal):
            return {"code": _code(refusal), "reasons": list(refusal.reasons), "nodes": None}
        case Ready(nodes=nodes):
            return {"code": "Success", "reasons": [], "nodes": None if nodes is None else sorted(nodes)}


def _status(refusal: Refusal | None) -> Verdict | None:
    if refusal is None:
        return None
    return {"plugin": refusal.rule, "code": _code(refusal), "reasons": list(refusal.reasons)}


def _code(refusal: Refusal) -> str:
    return "UnschedulableAndUnresolvable" if refusal.is_unresolvable else "Unschedulable"


def _normal(recorded: Case | None) -> Verdict | None:
    if recorded is None:
        return None
    return {
        "plugin": recorded.get("plugin", ""),
        "code": recorded["code"],
        "reasons": list(recorded.get("reasons", ())),
    }


def _compared(what: str, recorded: object, ours: object) -> list[str]:
    return [] if recorded == ours else [f"{what}: recorded {recorded!r}, ours {ours!r}"]
