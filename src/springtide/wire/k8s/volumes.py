"""The volumes of a pod spec, as far as they decide about nodes."""

from collections.abc import Iterable
from typing import Final

from springtide.model.volumes import ClaimVolume, DiskKind, DiskVolume, EphemeralVolume, Volume
from springtide.wire.k8s import schema

DEFAULT_POOL: Final = "rbd"


def to_volumes(read: Iterable[schema.Volume], *, is_manifest: bool) -> tuple[Volume, ...]:
    """Return the volumes in order; a claim that a controller will write has no name to go by."""
    found = (_volume(each, is_manifest=is_manifest) for each in read)
    return tuple(each for each in found if each is not None)


def _volume(read: schema.Volume, *, is_manifest: bool) -> Volume | None:
    if read.persistent_volume_claim is not None:
        claim = read.persistent_volume_claim.claim_name
        return ClaimVolume(claim) if claim else None
    if read.ephemeral is not None:
        return None if is_manifest else EphemeralVolume(read.name)
    return _disk(read, is_manifest=is_manifest)


def _disk(read: schema.Volume, *, is_manifest: bool) -> DiskVolume | None:
    if (gce := read.gce_persistent_disk) is not None:
        return DiskVolume(kind=DiskKind.GCE, name=gce.pd_name, is_read_only=gce.read_only)
    if (aws := read.aws_elastic_block_store) is not None:
        return DiskVolume(kind=DiskKind.AWS, name=aws.volume_id, is_read_only=aws.read_only)
    if (azure := read.azure_disk) is not None:
        return DiskVolume(kind=DiskKind.AZURE, name=azure.disk_name)
    if (iscsi := read.iscsi) is not None:
        return DiskVolume(kind=DiskKind.ISCSI, name=iscsi.iqn, is_read_only=iscsi.read_only)
    if (rbd := read.rbd) is not None:
        return DiskVolume(
            kind=DiskKind.RBD,
            name=rbd.image,
            # The API server fills in the pool of pods that it stores.
            pool=rbd.pool or (DEFAULT_POOL if is_manifest else ""),
            monitors=rbd.monitors,
            is_read_only=rbd.read_only,
        )
    return None
