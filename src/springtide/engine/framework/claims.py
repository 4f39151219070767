"""The claims of pods: what they are called, and which of them are the pod's own.

A generic ephemeral volume has a claim of its own, named for the pod and the volume. It is the pod's
only if the pod controls it; another object of that name is a mistake that the pod must not use.
"""

from collections.abc import Iterable, Sequence

import msgspec

from springtide.engine.framework.ask import PodAsk
from springtide.model.pod import Pod
from springtide.model.refusal import Refusal
from springtide.model.storage import Claim
from springtide.model.volumes import ClaimVolume, DiskVolume, EphemeralVolume, Volume


class NamedClaim(msgspec.Struct, frozen=True, kw_only=True):
    """A claim that a pod uses, whether or not it exists."""

    namespace: str
    name: str
    is_ephemeral: bool = False

    @property
    def key(self) -> str:
        """Return `namespace/name`."""
        return f"{self.namespace}/{self.name}"

    @property
    def not_found(self) -> str:
        """Return how the API says that there is no such claim."""
        return f'persistentvolumeclaim "{self.name}" not found'


def asked_claims(ask: PodAsk) -> tuple[NamedClaim, ...]:
    """Return the claims that the ask names, in the order of its volumes."""
    return _named(ask.spec.volumes, namespace=ask.namespace, pod=ask.name)


def held_claims(pod: Pod) -> tuple[str, ...]:
    """Return the keys of the claims that a pod uses, each once."""
    named = _named(pod.spec.volumes, namespace=pod.namespace, pod=pod.name)
    return tuple(dict.fromkeys(each.key for each in named))


def named_disks(volumes: Iterable[Volume]) -> tuple[DiskVolume, ...]:
    """Return the volumes that are disks."""
    return tuple(each for each in volumes if isinstance(each, DiskVolume))


def stranger(named: NamedClaim, claim: Claim, ask: PodAsk) -> str:
    """Return the complaint about a claim that is not made for this pod, empty if it is."""
    if not named.is_ephemeral or (claim.owner is not None and claim.owner.uid == ask.uid):
        return ""
    pod = f"{ask.namespace}/{ask.name}"
    return f"PVC {named.key} was not created for pod {pod} (pod is not owner)"


def rejection(rule: str, reason: str) -> Refusal:
    """Return the refusal of a pod whose storage is not in order, whatever the nodes are."""
    return Refusal(rule=rule, reasons=(reason,), is_unresolvable=True)


def _named(volumes: Sequence[Volume], *, namespace: str, pod: str) -> tuple[NamedClaim, ...]:
    if not volumes:
        return ()
    found = []
    for each in volumes:
        if isinstance(each, ClaimVolume):
            found.append(NamedClaim(namespace=namespace, name=each.claim))
        elif isinstance(each, EphemeralVolume):
            name = f"{pod}-{each.volume}"
            found.append(NamedClaim(namespace=namespace, name=name, is_ephemeral=True))
    return tuple(found)
