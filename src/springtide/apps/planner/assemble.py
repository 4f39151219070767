"""From decoded objects to what the engine works on: a ledger, templates, pending pods.

One broken node or pod is left out or closed, and reported; it never takes the others down.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from springtide.apps.planner.device_claims import (
    can_judge,
    waits_for_claims,
    without_device_claims,
)
from springtide.apps.planner.gangs import gathered
from springtide.apps.planner.namespace_quotas import beyond_quota, charges_of, quotas_of
from springtide.engine.capacity.situation import SizedGroup
from springtide.engine.dynamic_resources.copies import slices_by_node
from springtide.engine.framework.ask import keys_read
from springtide.engine.framework.claims import named_disks
from springtide.engine.framework.default_selector import DefaultSelectors
from springtide.engine.framework.scheduling_gates import pre_enqueue
from springtide.engine.placement.admission import admitted
from springtide.engine.placement.classes import standing_holding
from springtide.engine.placement.family import DeviceFamily
from springtide.engine.preemption import Evictable, Residents
from springtide.engine.simulation.daemons import daemon_sets
from springtide.engine.simulation.templates import Fleet, build, members
from springtide.model.device import Inventory, Share
from springtide.model.gang import Gang
from springtide.model.group import NodeGroup, PriorityRules
from springtide.model.ledger import Ledger
from springtide.model.node import Node
from springtide.model.pod import Pod, PodSpec
from springtide.model.presence import standing
from springtide.model.problem import Problem
from springtide.model.profile import DeviceProfile, unknown_vendor
from springtide.model.refusal import Refusal
from springtide.model.resource_claims import DeviceObjects
from springtide.model.storage import Storage
from springtide.wire.documents import Input
from springtide.wire.hami import keys
from springtide.wire.k8s.foreign import CLAIM_VOLUMES


class Picture(msgspec.Struct, frozen=True, kw_only=True):
    """The cluster as the engine sees it.

    `waiting` are the pods to plan for, among them those of `gangs`, `apart` those that wait for something else, and `denied`
    manifests that could never become pods, each with the reason. `read_keys` are the labels that
    rules between pods read, None where there are no such rules. `evictable` are the pods that run.
    `defaults` knows who is spread by default, None if nobody is.
    """

    ledger: Ledger
    groups: tuple[SizedGroup, ...]
    waiting: tuple[Pod, ...]
    gangs: tuple[Gang, ...] = ()
    apart: tuple[tuple[Pod, str], ...]
    denied: tuple[tuple[Pod, str], ...]
    problems: tuple[Problem, ...]
    read_keys: frozenset[str] | None = None
    defaults: DefaultSelectors | None = None
    evictable: Evictable


def assemble(
    found: Input,
    families: Mapping[str, DeviceFamily],
    *,
    spreading: frozenset[str] = frozenset(),
) -> Picture:
    """Return the picture of everything that was read.

    `spreading` are the schedulers that spread pods hard which state no constraint.
    """
    problems: list[Problem] = []
    ledger = Ledger()
    ledger.namespaces = found.namespaces
    ledger.quotas = quotas_of(found.quotas, families, problems=problems)
    registered = {node.name: _add_node(ledger, node, families, problems) for node in found.nodes}
    for group in found.groups:
        if group.template is not None:
            registered[group.template.name] = _registered(group.template, families)
    pods, denied = _everyone(found, families, problems)
    placed, waiting, apart = _sorted_out(pods, ledger.rows, found.device_objects)
    defaults = DefaultSelectors(found.selecting, spreading) if spreading else None
    read_keys = _read_keys(found, pods, waiting, defaults)
    ledger.hold_all(
        [
            standing_holding(
                pod,
                row,
                shares=_shares(ledger, pod, row, families, problems),
                presence=None if read_keys is None else standing(pod, read_keys),
                charges=charges_of(pod, families, quotas=ledger.quotas),
            )
            for pod, place in placed
            if (row := ledger.rows.get(place)) is not None
        ]
    )
    for pod, place in placed:
        if place not in ledger.rows:
            ledger.quotas.stand(pod.namespace, charges_of(pod, families, quotas=ledger.quotas))
    beyond = beyond_quota(pods[len(found.pods) :], families, quotas=ledger.quotas)
    denied.extend(beyond.values())
    pods = [pod for pod in pods if pod.uid not in beyond]
    waiting = [pod for pod in waiting if pod.uid not in beyond]
    apart = [each for each in apart if each[0].uid not in beyond]
    together = gathered(pods, found.pod_groups, placed=placed, waiting=waiting)
    problems.extend(together.problems)
    pods_on: dict[str, list[Pod]] = defaultdict(list)
    for pod, place in placed:
        pods_on[place].append(pod)
    slices_on = slices_by_node(found.device_objects.slices.values())
    fleet = Fleet(
        devices=found.device_objects,
        slices_on=slices_on,
        registered=registered,
        pods_on=pods_on,
        daemons=daemon_sets(found.daemon_sets, pods),
        profiles=_usable(found.profiles, families, problems),
        families=tuple(families),
    )
    return Picture(
        ledger=ledger,
        groups=_groups(found, fleet, problems),
        waiting=tuple(waiting),
        gangs=together.gangs,
        apart=tuple(apart),
        denied=tuple(denied),
        problems=tuple(_placed(problem, found.sources) for problem in problems),
        read_keys=read_keys,
        defaults=defaults,
        evictable=Evictable(residents=_residents(placed, ledger.rows), budgets=found.budgets),
    )


def _residents(placed: Iterable[tuple[Pod, str]], rows: Mapping[str, int]) -> Residents:
    """Return the pods that are on their nodes; those that are only nominated are not."""
    return Residents(
        (rows[place], pod)
        for pod, place in placed
        if place in rows and (pod.node_name or pod.nominated_node != place)
    )


def _read_keys(
    found: Input, pods: Sequence[Pod], waiting: Sequence[Pod], defaults: DefaultSelectors | None
) -> frozenset[str] | None:
    """Return which labels rules between pods read, None if there are no such rules."""
    selectors = () if defaults is None else filter(None, map(defaults.of, waiting))
    specs = [*(pod.spec for pod in pods), *(each.spec for each in found.daemon_sets)]
    return keys_read(specs, selectors)


def _placed(problem: Problem, sources: Mapping[str, str]) -> Problem:
    """Return the problem with the file that its object stands in."""
    return replace(problem, source=sources.get(problem.object, problem.source))


# Nodes and groups


Registered = dict[str, Inventory | Refusal]


def _add_node(
    ledger: Ledger, node: Node, families: Mapping[str, DeviceFamily], problems: list[Problem]
) -> Registered:
    registered = _registered(node, families)
    row = ledger.add_node(
        node, {name: found for name, found in registered.items() if isinstance(found, Inventory)}
    )
    for name, answer in registered.items():
        if isinstance(answer, Refusal):
            ledger.close(row, name, "", answer.text)
            problems.append(_malformed(node, name, answer))
    return registered


def _registered(node: Node, families: Mapping[str, DeviceFamily]) -> Registered:
    return {
        name: answer
        for name, family in families.items()
        if (answer := family.inventory(node)) is not None
    }


def _malformed(node: Node, family: str, refusal: Refusal) -> Problem:
    return Problem(
        source="",
        object=f"Node/{node.name}",
        field="metadata.annotations",
        message=f"{refusal.text}. The node takes no {family} pods until its registration is valid.",
    )


def _usable(
    profiles: Sequence[DeviceProfile],
    families: Mapping[str, DeviceFamily],
    problems: list[Problem],
) -> tuple[DeviceProfile, ...]:
    """Return the profiles whose vendors are known; one that is not must not be used in part."""
    usable = []
    for profile in profiles:
        fault = unknown_vendor(profile, families)
        if not fault:
            usable.append(profile)
            continue
        problems.append(
            Problem(
                source="",
                object=f"DeviceProfile/{profile.name}",
                field="spec.devices[].vendor",
                message=f"{fault} The profile is left out.",
            )
        )
    return tuple(usable)


def _groups(found: Input, fleet: Fleet, problems: list[Problem]) -> tuple[SizedGroup, ...]:
    owners: dict[str, str] = {}
    sized = []
    for group in found.groups:
        own = []
        for node in members(group, found.nodes):
            first = owners.setdefault(node.name, group.name)
            if first == group.name:
                own.append(node)
            else:
                problems.append(_claimed_twice(node, first, group.name))
        size = len(own) if group.size is None else group.size
        ranked = _ranked(group, found.priorities)
        sized.append(SizedGroup(group=ranked, size=size, template=build(ranked, own, fleet)))
    return tuple(sized)


def _ranked(group: NodeGroup, rules: PriorityRules | None) -> NodeGroup:
    """Return the group with the priority that the rules give it, where there are rules."""
    return group if rules is None else replace(group, priority=rules.of(group.name))


def _claimed_twice(node: Node, first: str, second: str) -> Problem:
    return Problem(
        source="",
        object=f"NodeGroup/{second}",
        field="nodeSelector",
        message=f"node {node.name} belongs to {first} already and is not counted again: "
        "let the selectors or provider id patterns of the two groups not overlap",
    )


# Pods


def _everyone(
    found: Input, families: Mapping[str, DeviceFamily], problems: list[Problem]
) -> tuple[list[Pod], list[tuple[Pod, str]]]:
    """Return all pods, those of manifests as admission would store them, and whom it would deny."""
    pods = [*found.pods]
    denied: list[tuple[Pod, str]] = []
    for manifest in found.manifests:
        answer = admitted(manifest, families)
        if isinstance(answer, Refusal):
            denied.append((manifest, f"would be denied at admission: {answer.text}"))
        else:
            pods.append(answer)
    pods = _told_apart(pods, problems)
    if any(pod.spec.volumes for pod in pods) and _incomplete(found.storage, problems):
        pods = _without_claims(pods)
    if not can_judge(pods, found.device_objects, problems):
        pods = without_device_claims(pods)
    return pods, denied


def _told_apart(pods: list[Pod], problems: list[Problem]) -> list[Pod]:
    """Return the pods with a uid of its own for each: copied manifests carry the same one."""
    seen: set[str] = set()
    apart = []
    for pod in pods:
        if pod.uid in seen:
            problems.append(
                Problem(
                    source="",
                    object=f"Pod/{pod.key}",
                    field="metadata.uid",
                    message=f"another pod has the uid {pod.uid} too; both are planned for",
                )
            )
        own = pod if pod.uid not in seen else replace(pod, uid=f"{pod.uid} of {pod.key}")
        seen.add(own.uid)
        apart.append(own)
    return apart


def _incomplete(storage: Storage, problems: list[Problem]) -> bool:
    """Return whether claims cannot be judged, because the input does not have what they refer to."""
    if not storage.claims:
        return True
    claims = storage.claims.values()
    missing = (
        *(("PersistentVolume",) if not storage.volumes and any(c.volume for c in claims) else ()),
        *(("StorageClass",) if not storage.classes and any(c.class_name for c in claims) else ()),
    )
    if missing:
        problems.append(
            Problem(
                source="",
                object="PersistentVolumeClaim",
                field="",
                message=f"The input has claims, but no {' and no '.join(missing)} object. "
                "Claims are not looked at; add these objects to have them judged.",
            )
        )
    return bool(missing)


def _without_claims(pods: Iterable[Pod]) -> list[Pod]:
    """Return the pods without their claims, which are named among what was not looked at."""
    unclaimed: dict[PodSpec, PodSpec] = {}
    shared: dict[PodSpec, PodSpec] = {}
    found = []
    for pod in pods:
        if not pod.spec.volumes:
            found.append(pod)
            continue
        spec = unclaimed.get(pod.spec)
        if spec is None:
            made = _unclaimed(pod.spec)
            spec = unclaimed[pod.spec] = shared.setdefault(made, made)
        found.append(replace(pod, spec=spec))
    return found


def _unclaimed(spec: PodSpec) -> PodSpec:
    disks = named_disks(spec.volumes)
    if len(disks) == len(spec.volumes):
        return spec
    fields = tuple(dict.fromkeys((*spec.fields, CLAIM_VOLUMES)))
    return replace(spec, volumes=disks, fields=fields)


def _sorted_out(
    pods: Iterable[Pod], rows: Mapping[str, int], devices: DeviceObjects
) -> tuple[list[tuple[Pod, str]], list[Pod], list[tuple[Pod, str]]]:
    """Return the pods that occupy a node, with its name, those that wait for one, and the others.

    The others come with what they wait for; pods that are finished are in none of the lists. A pod
    that is nominated to a node is among the first and the last: its place is kept for it, as Cluster
    Autoscaler does, though it has still to wait.
    """
    placed: list[tuple[Pod, str]] = []
    waiting: list[Pod] = []
    apart: list[tuple[Pod, str]] = []
    for pod in pods:
        if pod.is_finished:
            continue
        if place := _place_of(pod):
            placed.append((pod, place))
        elif reason := _waits_for(pod) or waits_for_claims(pod, devices):
            apart.append((pod, reason))
        elif place := _nomination(pod, rows):
            placed.append((pod, place))
            apart.append((pod, f"waits for node {place}, to which the scheduler has nominated it"))
        else:
            waiting.append(pod)
    return placed, waiting, apart


def _place_of(pod: Pod) -> str:
    """Return the node that the pod occupies: where it is bound, or is being bound.

    A pod with a device allocation that is not bound yet holds it, unless the bind has failed or
    the scheduler has put the pod back.
    """
    if pod.node_name:
        return pod.node_name
    fell_back = (
        pod.annotations.get(keys.BIND_PHASE) == keys.BIND_FAILED
        or pod.scheduled_reason == "Unschedulable"
    )
    return "" if fell_back else pod.annotations.get(keys.NODE, "")


def _nomination(pod: Pod, rows: Mapping[str, int]) -> str:
    """Return the node that a waiting pod is nominated to, empty if it is none that is there."""
    is_there = not _place_of(pod) and pod.nominated_node in rows
    return pod.nominated_node if is_there else ""


def _waits_for(pod: Pod) -> str:
    """Return what an unbound pod waits for other than a node, or an empty text."""
    if pod.is_terminating:
        return "is being deleted"
    if pre_enqueue(pod.spec) is not None:
        return f"waits for scheduling gates: {' '.join(pod.spec.scheduling_gates)}"
    if pod.is_daemon:
        return "is a DaemonSet's pod, which new nodes do not help"
    return ""


def _shares(
    ledger: Ledger,
    pod: Pod,
    row: int,
    families: Mapping[str, DeviceFamily],
    problems: list[Problem],
) -> tuple[tuple[str, tuple[Share, ...]], ...]:
    """Return what the pod uses of its node's devices; a family that cannot tell closes the node."""
    shares: list[tuple[str, tuple[Share, ...]]] = []
    for name, family in families.items():
        answer = family.decode(pod)
        if isinstance(answer, Refusal):
            ledger.close(row, name, pod.uid, answer.text)
            problems.append(_unreadable(pod, name, ledger.names[row], answer))
        elif answer is not None and name in ledger.devices:
            inventory = ledger.devices[name].inventory_at(row)
            if inventory is not None:
                shares.append((name, family.shares(answer, inventory)))
    return tuple(shares)


def _unreadable(pod: Pod, family: str, place: str, refusal: Refusal) -> Problem:
    return Problem(
        source="",
        object=f"Pod/{pod.key}",
        field="metadata.annotations",
        message=f"{refusal.text}. Node {place} takes no {family} pods while this pod runs.",
    )
