"""Pods as they were read: told apart, as far as they can be judged, and sorted by what they wait for."""

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from springtide.apps.planner.device_claims import (
    can_judge,
    waits_for_claims,
    without_device_claims,
)
from springtide.engine.framework.claims import named_disks
from springtide.engine.framework.scheduling_gates import pre_enqueue
from springtide.engine.placement.admission import admitted
from springtide.engine.placement.family import DeviceFamily
from springtide.model.device import Share
from springtide.model.ledger import Ledger
from springtide.model.pod import Pod, PodSpec
from springtide.model.problem import Problem
from springtide.model.refusal import Refusal
from springtide.model.resource_claims import DeviceObjects
from springtide.model.storage import Storage
from springtide.wire.documents import Input
from springtide.wire.hami import keys
from springtide.wire.k8s.foreign import CLAIM_VOLUMES


def everyone(
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


def sorted_out(
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


def shares_of(
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
