"""Devices in recorded kube-scheduler answers: the claims of a pod, and what nodes give them.

Texts of faults need not be the recorded ones, so only their place is compared. What claims are given
is compared device by device.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from springtide.base import quantity
from springtide.base.selectors import NodeSelectorTerm
from springtide.engine.dynamic_resources.matching import DeviceSelectors
from springtide.engine.framework.ask import PodAsk
from springtide.engine.framework.claims_check import ClaimsCheck
from springtide.engine.framework.dynamic_resources import pre_enqueue
from springtide.engine.framework.framework import Framework
from springtide.engine.framework.rule import Ready
from springtide.model.ledger import Ledger
from springtide.model.resource_claims import ClaimAllocation, DeviceUse
from springtide.wire.cel import Selectors

__all__ = [
    "FAULT",
    "RULE",
    "TOPICS",
    "allocation_differences",
    "device_selectors",
    "pre_enqueue",
    "verdict",
]

Case = Mapping[str, Any]

TOPICS = (
    "dra-basic",
    "dra-allocated",
    "dra-selectors",
    "dra-constraints",
    "dra-first-available",
    "dra-counters",
    "dra-capacity",
    "dra-taints",
    "dra-pools",
    "dra-extended",
    "dra-binding",
)
RULE = "DynamicResources"


FAULT: Final = {"code": "Error", "reasons": []}
"""A fault; its text is nobody's business."""


SELECTORS: Final = Selectors()


def verdict(recorded: Iterable[Case]) -> dict[str, Any] | None:
    """Return what the rule says of a node, without the text of a fault."""
    for each in recorded:
        if each["plugin"] == RULE:
            shown = {"plugin": RULE, "code": each["code"], "reasons": each.get("reasons", [])}
            return {**shown, **FAULT} if each["code"] == "Error" else shown
    return None


def device_selectors() -> DeviceSelectors:
    """Return what evaluates selectors of devices."""
    return SELECTORS


def allocation_differences(
    expected: Case, framework: Framework, ask: PodAsk, ledger: Ledger
) -> list[str]:
    """Return where the devices that we choose differ from the recorded ones."""
    prepared = framework.device_rule.prepare(ask, ledger)
    if not isinstance(prepared, Ready) or not isinstance(prepared.check, ClaimsCheck):
        return ["allocations: recorded some"] if expected.get("allocations") else []
    found: list[str] = []
    for node, recorded in expected.get("allocations", {}).items():
        given = prepared.check.allocate(ledger, ledger.rows[node])
        ours = None if given is None else [_shown(each.allocation) for each in given]
        # A claim for extended resources is recorded also where the node offers them itself.
        theirs = [_recorded(each) for each in recorded if each["devices"]]
        if ours != theirs:
            found.append(f"allocations {node}: recorded {theirs!r}, ours {ours!r}")
    return found


def _recorded(allocation: Case) -> Case:
    return {**allocation, "devices": [_recorded_device(each) for each in allocation["devices"]]}


def _recorded_device(device: Case) -> Case:
    consumed = device.get("consumedCapacity")
    if consumed is None:
        return device
    amounts = {name: quantity.parse(amount).nano for name, amount in consumed.items()}
    return {**device, "consumedCapacity": amounts}


def _shown(allocation: ClaimAllocation) -> Case:
    shown: dict[str, Any] = {"devices": [_device(each) for each in allocation.devices]}
    if allocation.terms is not None:
        shown["nodeSelector"] = {"nodeSelectorTerms": [_term(each) for each in allocation.terms]}
    return shown


def _device(use: DeviceUse) -> Case:
    shown: dict[str, Any] = {
        "request": use.request,
        "driver": use.driver,
        "pool": use.pool,
        "device": use.device,
    }
    if use.admin_access:
        shown["adminAccess"] = True
    if use.consumed is not None:
        shown["consumedCapacity"] = {name: amount.nano for name, amount in use.consumed}
    return shown


def _term(term: NodeSelectorTerm) -> Case:
    parts = (("matchExpressions", term.expressions), ("matchFields", term.fields))
    return {
        name: [
            {"key": each.key, "operator": each.operator, "values": list(each.values)}
            for each in requirements
        ]
        for name, requirements in parts
        if requirements
    }
