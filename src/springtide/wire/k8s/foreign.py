"""Which rules beyond resources and nodes a pod spec invokes.

Spread constraints, affinity between pods, volumes and resource claims are decided by plugins that an
answer may not have looked at. They are only named here, so that the answer can say so. Preferences
never exclude a node and have names of their own.
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
    read: schema.PodSpec, affinity: schema.Affinity, *, path: str
) -> tuple[str, ...]:
    """Return the names of the API fields in use, in a fixed order."""
    return (
        *_spread(read, path=path),
        *_affinity(affinity),
        *_volumes(read.volumes),
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
