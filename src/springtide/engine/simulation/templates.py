"""Templates: what one more node of a group would be.

The node comes from a live node of the group (the first that is ready and stays), else from the one
that the input describes. Its devices come from the registrations of the group's ready nodes, else
from a device profile: the one that the node names, the one that the group names, or the only one
whose selector matches. Never from nothing: what is not known is a refusal with its reason.
"""

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum

import msgspec
from msgspec.structs import replace

from springtide.engine.dynamic_resources.copies import are_whole, copied_uses
from springtide.engine.placement.unregistered import unregistered
from springtide.engine.simulation.daemons import expected
from springtide.engine.simulation.homogeneity import agreed
from springtide.engine.simulation.profiled import profile_of, promised
from springtide.engine.simulation.sanitise import mirrored, sanitised
from springtide.model.device import Inventory
from springtide.model.device_slices import ResourceSlice
from springtide.model.group import NodeGroup
from springtide.model.node import Node
from springtide.model.pod import Pod
from springtide.model.profile import DeviceProfile, Homogeneity
from springtide.model.refusal import Refusal
from springtide.model.resource_claims import ClaimAllocation, DeviceObjects
from springtide.model.workload import DaemonSet

_DELETED_TAINT = "ToBeDeletedByClusterAutoscaler"
_NOT_SERVING_CONDITIONS = ("DiskPressure", "NetworkUnavailable")
_NOT_SERVING_TAINTS = frozenset(
    f"node.kubernetes.io/{trouble}"
    for trouble in ("not-ready", "disk-pressure", "network-unavailable")
)


class Source(StrEnum):
    """Where a template's node was taken from."""

    WARM = "live node"
    INPUT = "described node"


class Template(msgspec.Struct, frozen=True, kw_only=True):
    """One more node of a group: the node, its devices by family, and the pods it starts with.

    `refusals` says, by family, why the group's devices are not known. `origin` names the live node
    that the node was copied from, if it was. `device_uses` is what claims of its pods hold of the
    devices in the node's slices, by the uid of the pod.
    """

    group: NodeGroup
    node: Node
    source: Source
    inventories: tuple[tuple[str, Inventory], ...] = ()
    refusals: tuple[tuple[str, Refusal], ...] = ()
    pods: tuple[Pod, ...] = ()
    device_uses: Mapping[str, tuple[ClaimAllocation, ...]] = {}
    origin: str = ""


class Fleet(msgspec.Struct, frozen=True, kw_only=True):
    """What templates are made from.

    `registered` holds what each node registers, by node name and family, `pods_on` the pods that
    occupy each node. `devices` are the device objects, `slices_on` the slices that belong to one node
    by its name.
    """

    registered: Mapping[str, Mapping[str, Inventory | Refusal]]
    pods_on: Mapping[str, Sequence[Pod]]
    daemons: Sequence[DaemonSet]
    profiles: Sequence[DeviceProfile]
    families: Sequence[str]
    devices: DeviceObjects = DeviceObjects()
    slices_on: Mapping[str, tuple[ResourceSlice, ...]] = {}


def members(group: NodeGroup, nodes: Sequence[Node]) -> tuple[Node, ...]:
    """Return the group's nodes, in input order."""
    pattern = re.compile(group.provider_id_pattern) if group.provider_id_pattern else None
    return tuple(
        node
        for node in nodes
        if (pattern is not None and pattern.fullmatch(node.provider_id))
        or (group.selector is not None and group.selector.matches(node.labels))
    )


def build(group: NodeGroup, own: Sequence[Node], fleet: Fleet) -> Template | Refusal:
    """Return the template of a group whose nodes are `own`, or why there is none."""
    described = _described(group)
    origin = _origin(own, described)
    if origin is None:
        return Refusal(
            rule="template",
            reasons=("no template: the group has no node and the input describes none",),
            is_unresolvable=True,
        )
    node = sanitised(origin, f"template-node-for-{group.name}", ignored_taints=group.ignored_taints)
    slices = _slices(origin, own, fleet)
    if slices:
        node = replace(node, device_slices=slices)
    is_live = origin is not described
    profile = profile_of(node, fleet.profiles, named=group.profile)
    inventories, refusals = _devices(group, origin, own, profile, fleet)
    pods = _live_pods(origin, node, fleet) if is_live else expected(fleet.daemons, node, ())
    return Template(
        group=group,
        node=node,
        source=Source.WARM if is_live else Source.INPUT,
        inventories=inventories,
        refusals=refusals,
        pods=pods,
        device_uses=copied_uses(pods, slices, fleet.devices) if slices else {},
        origin=origin.name if is_live else "",
    )


def _slices(origin: Node, own: Sequence[Node], fleet: Fleet) -> tuple[ResourceSlice, ...]:
    """Return the slices of the node that is copied, or else those of another one of the group.

    Those of a node whose drivers are still at it are only taken if no other node has any.
    """
    names = [origin.name, *(node.name for node in own if serves(node))]
    found = [slices for name in names if (slices := fleet.slices_on.get(name, ()))]
    return next(filter(are_whole, found), next(iter(found), ()))


def _origin(own: Sequence[Node], described: Node | None) -> Node | None:
    """Return the node to copy: a live one that stays, else the described one, else any."""
    staying = (
        node
        for node in own
        if serves(node)
        and not node.is_unschedulable
        and all(taint.key != _DELETED_TAINT for taint in node.taints)
    )
    return next(staying, None) or described or next(iter(own), None)


def serves(node: Node) -> bool:
    """Return whether Cluster Autoscaler takes the node for ready: more than its condition counts."""
    return (
        node.is_ready
        and all(node.conditions.get(condition) != "True" for condition in _NOT_SERVING_CONDITIONS)
        and all(taint.key not in _NOT_SERVING_TAINTS for taint in node.taints)
    )


def _described(group: NodeGroup) -> Node | None:
    if group.template is None:
        return None
    return replace(group.template, labels=mirrored(group.template.labels))


def _live_pods(sample: Node, node: Node, fleet: Fleet) -> tuple[Pod, ...]:
    """Return what stays of the sampled node, and what would push its way onto it sooner or later."""
    kept = _kept_pods(sample, fleet)
    pushing = [daemon for daemon in fleet.daemons if daemon.is_critical]
    return (*kept, *expected(pushing, node, kept)) if pushing else kept


def _kept_pods(sample: Node, fleet: Fleet) -> tuple[Pod, ...]:
    return tuple(
        pod
        for pod in fleet.pods_on.get(sample.name, ())
        if (pod.is_daemon or pod.is_mirror) and not pod.is_terminating and not pod.is_finished
    )


Found = tuple[tuple[tuple[str, Inventory], ...], tuple[tuple[str, Refusal], ...]]


def _devices(
    group: NodeGroup,
    origin: Node,
    own: Sequence[Node],
    profile: DeviceProfile | Refusal | None,
    fleet: Fleet,
) -> Found:
    inventories: list[tuple[str, Inventory]] = []
    refusals: list[tuple[str, Refusal]] = []
    for family in fleet.families:
        samples, malformed = _registrations(origin, own, family, fleet)
        answer = (
            agreed(group.name, samples, _policy(group, profile))
            if samples
            else promised(family, profile) or malformed or _undescribed(group, own, family, profile)
        )
        if isinstance(answer, Inventory):
            inventories.append((family, answer))
        else:
            refusals.append((family, answer))
    return tuple(inventories), tuple(refusals)


def _registrations(
    origin: Node, own: Sequence[Node], family: str, fleet: Fleet
) -> tuple[list[tuple[str, Inventory]], Refusal | None]:
    """Return what ready nodes register, or else the copied node, and a malformed registration."""
    samples: dict[str, Inventory] = {}
    malformed: Refusal | None = None
    for node in (*own, origin):
        registered = fleet.registered.get(node.name, {}).get(family)
        if isinstance(registered, Inventory):
            samples[node.name] = registered
        elif registered is not None:
            malformed = malformed or registered
    ready = [
        (node.name, samples[node.name]) for node in own if node.is_ready and node.name in samples
    ]
    if not ready and origin.name in samples:
        return [(origin.name, samples[origin.name])], None
    return ready, malformed


def _undescribed(
    group: NodeGroup, own: Sequence[Node], family: str, profile: DeviceProfile | Refusal | None
) -> Refusal:
    if isinstance(profile, DeviceProfile):
        why = f"device profile {profile.name} describes no {family} device"
    elif own:
        nodes = f"none of its {len(own)} nodes" if len(own) > 1 else f"its node {own[0].name}"
        verb = "has registered" if len(own) > 1 else "has not registered"
        why = f"{nodes} {verb} devices of {family}"
    else:
        why = "no node of the group is up, and no device profile matches it"
    return unregistered(family, detail=why)


def _policy(group: NodeGroup, profile: DeviceProfile | Refusal | None) -> Homogeneity:
    if group.homogeneity:
        return Homogeneity(group.homogeneity)
    if isinstance(profile, DeviceProfile):
        return profile.homogeneity
    return Homogeneity.STRICT
