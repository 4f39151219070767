"""The claims of a pod: what they are called, and whether they are there for it.

A claim that is made from a template is the pod's only if the pod controls it. Where a claim is still
to be made, its template says what it will ask for.
"""

from collections.abc import Iterable

import msgspec

from springtide.model.pod import Pod, PodClaim
from springtide.model.resource_claims import (
    NO_CONTENT,
    ClaimAllocation,
    ClaimContent,
    DeviceObjects,
    ResourceClaim,
)


class AskedClaim(msgspec.Struct, frozen=True, kw_only=True):
    """One claim as the rule sees it. `key` is empty where no other pod can use the claim.

    `allocation` is what the API says that it was given, None if it is to be allocated.
    """

    key: str = ""
    content: ClaimContent = NO_CONTENT
    allocation: ClaimAllocation | None = None


class DeviceAsk(msgspec.Struct, frozen=True, kw_only=True, cache_hash=True):
    """The claims of a pod in order, or the fault that keeps it from all nodes."""

    claims: tuple[AskedClaim, ...] = ()
    fault: str = ""


NO_CLAIMS = DeviceAsk()


def device_ask(pod: Pod, objects: DeviceObjects) -> DeviceAsk:
    """Return what the pod claims."""
    if not pod.spec.device_claims:
        return NO_CLAIMS
    found: list[AskedClaim] = []
    for each in pod.spec.device_claims:
        asked = _asked(pod, each, objects)
        if isinstance(asked, str):
            return DeviceAsk(fault=asked)
        if asked is not None:
            found.append(asked)
    return DeviceAsk(claims=tuple(found))


def claim_keys(pod: Pod) -> Iterable[str]:
    """Return the keys of the claims that exist for the pod, as far as it names them."""
    made = dict(pod.made_claims)
    names = (each.claim or made.get(each.name) for each in pod.spec.device_claims)
    return (f"{pod.namespace}/{name}" for name in names if name)


def _asked(pod: Pod, named: PodClaim, objects: DeviceObjects) -> AskedClaim | str | None:
    """Return one claim, why the pod cannot have it, or None if it turned out not to be needed."""
    if named.claim:
        return _existing(pod, named.claim, objects, is_made=False)
    made = dict(pod.made_claims).get(named.name)
    if made == "":
        return None
    if made is not None:
        return _existing(pod, made, objects, is_made=True)
    template = objects.templates.get(f"{pod.namespace}/{named.template}")
    if template is None:
        return f'pod "{pod.key}": ResourceClaim not created yet'
    return AskedClaim(content=template.content)


def _existing(pod: Pod, name: str, objects: DeviceObjects, *, is_made: bool) -> AskedClaim | str:
    claim = objects.claims.get(f"{pod.namespace}/{name}")
    if claim is None:
        return f'could not find ResourceClaim "{pod.namespace}/{name}"'
    if is_made and (claim.owner is None or claim.owner.uid != pod.uid):
        owner = f"Pod {pod.key} (Pod is not owner)"
        return f"ResourceClaim {claim.key} was not created for {owner}"
    if claim.is_terminating:
        return f'resourceclaim "{claim.name}" is being deleted'
    return _to_allocate(claim, is_made=is_made)


def _to_allocate(claim: ResourceClaim, *, is_made: bool) -> AskedClaim:
    # Equal claims of equal pods are one question, whatever the claims are called.
    is_alone = is_made and claim.allocation is None
    return AskedClaim(
        key="" if is_alone else claim.key, content=claim.content, allocation=claim.allocation
    )
