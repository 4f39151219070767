"""Node objects from model nodes: what somebody who makes machines says of them.

What only a kubelet knows (addresses, images, its version) is not among it.
"""

from typing import Any

from springtide.base.taints import Taint
from springtide.model.node import Node
from springtide.model.resources import Resources


def node_object(node: Node) -> dict[str, Any]:
    """Return the object that creates a node; what is empty is left out."""
    metadata = {
        "name": node.name,
        "labels": dict(node.labels),
        "annotations": dict(node.annotations),
    }
    spec = {
        "providerID": node.provider_id,
        "unschedulable": node.is_unschedulable,
        "taints": [_taint(each) for each in node.taints],
    }
    status = {
        "capacity": _amounts(node.capacity),
        "allocatable": _amounts(node.allocatable),
        "conditions": [{"type": key, "status": each} for key, each in node.conditions.items()],
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": _said(metadata),
        "spec": _said(spec),
        "status": _said(status),
    }


def _taint(taint: Taint) -> dict[str, str]:
    value = {"value": taint.value} if taint.value else {}
    return {"key": taint.key, **value, "effect": taint.effect}


def _amounts(resources: Resources) -> dict[str, str]:
    return {name: str(quantity) for name, quantity in resources}


def _said(part: dict[str, Any]) -> dict[str, Any]:
    return {key: each for key, each in part.items() if each}
