"""Which rules beyond resources and nodes a pod spec invokes.

Volumes and resource claims are decided by plugins that an answer may not have looked at. They are
only named here, so that the answer can say so. Preferences never exclude a node and have names of
their own.
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
    read: schema.PodSpec, affinity: schema.Affinity, spread: Iterable[SpreadConstraint]
) -> tuple[str, ...]:
    """Return the names of the API fields in use, in a fixed order."""
    return (
        *((SPREAD_PREFERRED,) if any(not each.is_hard for each in spread) else ()),
        *_affinity(affinity),
        *_volumes(read.volumes),
        *((RESOURCE_CLAIMS,) if read.resource_claims else ()),
    )


def _affinity(read: schema.Affinity) -> tuple[str, ...]:
    pod, anti = read.pod_affinity, read.pod_anti_affinity
    preferred = (
        pod.preferred_during_scheduling_ignored_during_execution
        or anti.preferred_during_scheduling_ignored_during_execution
        or read.node_affinity.preferred_during_scheduling_ignored_during_execution
    )
    return (AFFINITY_PREFERRED,) if preferred else ()


def _volumes(volumes: tuple[schema.Volume, ...]) -> tuple[str, ...]:
    return (
        *((CLAIM_VOLUMES,) if any(_is_claim(each) for each in volumes) else ()),
        *((DISK_VOLUMES,) if any(_is_disk(each) for each in volumes) else ()),
    )


def _is_claim(volume: schema.Volume) -> bool:
    return volume.persistent_volume_claim is not None or volume.ephemeral is not None


def _is_disk(volume: schema.Volume) -> bool:
    kinds = (
        volume.gce_persistent_disk,
        volume.aws_elastic_block_store,
        volume.rbd,
        volume.iscsi,
        volume.azure_disk,
        volume.csi,
    )
    return any(kind is not None for kind in kinds)
