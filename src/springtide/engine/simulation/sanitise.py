"""What a template must not inherit from the node it was copied from.

Cluster Autoscaler's rules for a template copied from a real node: its own taints, taints that a
node condition put there, startup and status taints go, and so does ours on a node whose devices are
not as promised; all other taints and all labels but the hostname stay, and a label marks the template.
Operators may name further taints that do not belong to new nodes.
"""

from collections.abc import Collection, Mapping

from msgspec.structs import replace

from springtide.base.taints import Taint
from springtide.model.node import HOSTNAME_LABEL, Node
from springtide.model.profile import MISMATCH_TAINT

REMOVED_TAINTS = frozenset(
    {
        "ToBeDeletedByClusterAutoscaler",
        "DeletionCandidateOfClusterAutoscaler",
        "node.kubernetes.io/not-ready",
        "node.kubernetes.io/unreachable",
        "node.kubernetes.io/unschedulable",
        "node.kubernetes.io/memory-pressure",
        "node.kubernetes.io/disk-pressure",
        "node.kubernetes.io/network-unavailable",
        "node.kubernetes.io/pid-pressure",
        "node.cloudprovider.kubernetes.io/uninitialized",
        "node.cloudprovider.kubernetes.io/shutdown",
        "cloud.google.com/impending-node-termination",
        "NodeWithImpairedVolumes",
        MISMATCH_TAINT,
    }
)
REMOVED_TAINT_PREFIXES = (
    "startup-taint.cluster-autoscaler.kubernetes.io/",
    "status-taint.cluster-autoscaler.kubernetes.io/",
    "ignore-taint.cluster-autoscaler.kubernetes.io/",
)


MIRRORED_LABELS = (
    ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type"),
    ("topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region"),
    ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"),
)
"""Labels with an older name that means the same."""

TEMPLATE_LABEL = "cluster-autoscaler.kubernetes.io/template-node"


def sanitised(node: Node, name: str, *, ignored_taints: Collection[str] = ()) -> Node:
    """Return the node as a new node of its group would be: another name, no passing taints."""
    return replace(
        node,
        name=name,
        uid="",
        labels={**node.labels, HOSTNAME_LABEL: name, TEMPLATE_LABEL: "true"},
        taints=tuple(taint for taint in node.taints if _stays(taint, ignored_taints)),
        is_unschedulable=False,
        provider_id="",
        conditions={"Ready": "True"},
        created="",
    )


def mirrored(labels: Mapping[str, str]) -> dict[str, str]:
    """Return the labels of a described node with those that an older name stands for as well."""
    found = dict(labels)
    for name, older in MIRRORED_LABELS:
        if name in labels:
            found[older] = labels[name]
        elif older in labels:
            found[name] = labels[older]
    return found


def _stays(taint: Taint, ignored: Collection[str]) -> bool:
    key = taint.key
    return (
        key not in REMOVED_TAINTS
        and key not in ignored
        and not key.startswith(REMOVED_TAINT_PREFIXES)
    )
