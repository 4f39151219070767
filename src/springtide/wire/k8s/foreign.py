"""Which rules beyond resources and nodes a pod spec invokes.

Disks that a CSI driver stands in for and claims that are still to be written are decided by plugins
that an answer may not have looked at. They are only named here, so that the answer can say so. Preferences never exclude a node and have names of their own.
"""

from collections.abc import Iterable
from typing import Final

from springtide.model.neighbours import SpreadConstraint
from springtide.wire.k8s import schema

SPREAD_PREFERRED: Final = "topologySpreadConstraints.preferred"
AFFINITY_PREFERRED: Final = "affinity.preferred"
CLAIM_VOLUMES: Final = "volumes.persistentVolumeClaim"
DISK_VOLUMES: Final = "volumes.disk"
RESOURCE_CLAIMS: Final = "resourceClaims"


def foreign_fields(
    read: schema.PodSpec,
    affinity: schema.Affinity,
    spread: Iterable[SpreadConstraint],
    *,
    is_manifest: bool = False,
) -> tuple[str, ...]:
    """Return the names of the API fields in use, in a fixed order."""
    return (
        *((SPREAD_PREFERRED,) if any(not each.is_hard for each in spread) else ()),
        *_affinity(affinity),
        *_volumes(read.volumes, is_manifest=is_manifest),
    )


def _affinity(read: schema.Affinity) -> tuple[str, ...]:
    pod, anti = read.pod_affinity, read.pod_anti_affinity
    preferred = (
        pod.preferred_during_scheduling_ignored_during_execution
        or anti.preferred_during_scheduling_ignored_during_execution
        or read.node_affinity.preferred_during_scheduling_ignored_during_execution
    )
    return (AFFINITY_PREFERRED,) if preferred else ()


def _volumes(volumes: tuple[schema.Volume, ...], *, is_manifest: bool) -> tuple[str, ...]:
    is_unwritten = any(_is_unwritten(each, is_manifest=is_manifest) for each in volumes)
    return (
        *((CLAIM_VOLUMES,) if is_unwritten else ()),
        *((DISK_VOLUMES,) if any(_is_migrated(each) for each in volumes) else ()),
    )


def _is_unwritten(volume: schema.Volume, *, is_manifest: bool) -> bool:
    """Return whether a controller will make the claim together with the pod."""
    claim = volume.persistent_volume_claim
    return (claim is not None and not claim.claim_name) or (
        is_manifest and volume.ephemeral is not None
    )


def _is_migrated(volume: schema.Volume) -> bool:
    """Return whether a CSI driver stands in for the disk, whose limit is not counted here."""
    kinds = (volume.gce_persistent_disk, volume.aws_elastic_block_store, volume.azure_disk)
    return any(kind is not None for kind in kinds)
