"""Which rules beyond resources and nodes a pod spec invokes.

Spread constraints, affinity between pods, resource claims, disks that a CSI driver stands in for and
claims that are still to be written are decided by plugins that an answer may not have looked at.
They are only named here, so that the answer can say so. Preferences never exclude a node and have
names of their own.
"""

from typing import Final

import msgspec

from springtide.wire.k8s import schema
from springtide.wire.k8s.parts import decoded, is_given

SPREAD: Final = "topologySpreadConstraints"
SPREAD_PREFERRED: Final = "topologySpreadConstraints.preferred"
POD_AFFINITY: Final = "affinity.podAffinity"
POD_ANTI_AFFINITY: Final = "affinity.podAntiAffinity"
AFFINITY_PREFERRED: Final = "affinity.preferred"
CLAIM_VOLUMES: Final = "volumes.persistentVolumeClaim"
DISK_VOLUMES: Final = "volumes.disk"
RESOURCE_CLAIMS: Final = "resourceClaims"

_SPREAD: Final = msgspec.json.Decoder(tuple[schema.TopologySpreadConstraint, ...])


def foreign_fields(
    read: schema.PodSpec, affinity: schema.Affinity, *, path: str, is_manifest: bool = False
) -> tuple[str, ...]:
    """Return the names of the API fields in use, in a fixed order."""
    return (
        *_spread(read, path=path),
        *_affinity(affinity),
        *_volumes(read.volumes, is_manifest=is_manifest),
        *((RESOURCE_CLAIMS,) if read.resource_claims else ()),
    )


def _spread(read: schema.PodSpec, *, path: str) -> tuple[str, ...]:
    if not is_given(read.topology_spread_constraints):
        return ()
    constraints = decoded(
        read.topology_spread_constraints, _SPREAD, path=f"{path}.topologySpreadConstraints"
    )
    is_soft = [each.when_unsatisfiable == "ScheduleAnyway" for each in constraints]
    return (
        *((SPREAD,) if not all(is_soft) else ()),
        *((SPREAD_PREFERRED,) if any(is_soft) else ()),
    )


def _affinity(read: schema.Affinity) -> tuple[str, ...]:
    pod, anti = read.pod_affinity, read.pod_anti_affinity
    preferred = (
        pod.preferred_during_scheduling_ignored_during_execution
        or anti.preferred_during_scheduling_ignored_during_execution
        or read.node_affinity.preferred_during_scheduling_ignored_during_execution
    )
    return (
        *((POD_AFFINITY,) if pod.required_during_scheduling_ignored_during_execution else ()),
        *((POD_ANTI_AFFINITY,) if anti.required_during_scheduling_ignored_during_execution else ()),
        *((AFFINITY_PREFERRED,) if preferred else ()),
    )


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
