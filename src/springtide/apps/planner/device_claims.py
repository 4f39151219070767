"""Claims of devices in an input: whether they can be judged, and which pods wait for theirs.

A dump often has pods that claim devices without the objects that say what these are. Then claims are
left out, and the answer names them among what was not looked at.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec.structs import replace

from springtide.engine.dynamic_resources.naming import device_ask
from springtide.model.pod import Pod, PodClaim, PodSpec
from springtide.model.problem import Problem
from springtide.model.resource_claims import DeviceObjects

RESOURCE_CLAIMS: Final = "resourceClaims"


def can_judge(pods: Sequence[Pod], objects: DeviceObjects, problems: list[Problem]) -> bool:
    """Return whether the input has what the pods' claims refer to; part of it is a problem."""
    claiming = [pod for pod in pods if pod.spec.device_claims and not pod.is_finished]
    if not claiming:
        return True
    if objects.is_empty:
        return False
    missing = list(_missing(claiming, objects))
    if missing:
        problems.append(
            Problem(
                source="",
                object="ResourceClaim",
                field="",
                message=f"Pods claim devices, but the input has no {' and no '.join(missing)} "
                "object. Claims of devices are not looked at; add these objects to have them judged.",
            )
        )
    return not missing


def without_device_claims(pods: Iterable[Pod]) -> list[Pod]:
    """Return the pods without their claims, which are named among what was not looked at."""
    unclaimed: dict[PodSpec, PodSpec] = {}
    found = []
    for pod in pods:
        if not pod.spec.device_claims:
            found.append(pod)
            continue
        spec = unclaimed.get(pod.spec)
        if spec is None:
            fields = tuple(dict.fromkeys((*pod.spec.fields, RESOURCE_CLAIMS)))
            spec = unclaimed[pod.spec] = replace(pod.spec, device_claims=(), fields=fields)
        found.append(replace(pod, spec=spec))
    return found


def waits_for_claims(pod: Pod, objects: DeviceObjects) -> str:
    """Return what a pod waits for because a claim of its is not there, or an empty text."""
    fault = device_ask(pod, objects).fault
    return f"waits for its claims: {fault}" if fault else ""


def _missing(pods: Sequence[Pod], objects: DeviceObjects) -> Iterable[str]:
    named = [(pod, claim) for pod in pods for claim in pod.spec.device_claims]
    if not objects.claims and any(_exists(pod, claim) for pod, claim in named):
        yield "ResourceClaim"
    if not objects.templates and any(not _exists(pod, claim) for pod, claim in named):
        yield "ResourceClaimTemplate"
    if not objects.classes:
        yield "DeviceClass"
    if not objects.slices:
        yield "ResourceSlice"


def _exists(pod: Pod, claim: PodClaim) -> bool:
    """Return whether the pod names a claim that is there, rather than one to be made."""
    return bool(claim.claim) or any(name == claim.name for name, _ in pod.made_claims)
