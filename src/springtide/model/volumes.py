"""The volumes of a pod that can decide about nodes; all others are of no account to a scheduler.

A claim is named by the pod or made for it (a generic ephemeral volume). The disks are those that
only one pod may write to at a time.
"""

from enum import StrEnum
from typing import TypeAlias

import msgspec


class ClaimVolume(msgspec.Struct, frozen=True):
    """A volume that is a claim, by the name of the claim in the pod's namespace."""

    claim: str


class EphemeralVolume(msgspec.Struct, frozen=True):
    """A volume whose claim is made for the pod and carries its name: `<pod>-<volume>`."""

    volume: str


class DiskKind(StrEnum):
    """The kinds of disks that kube-scheduler watches over."""

    GCE = "gcePersistentDisk"
    AWS = "awsElasticBlockStore"
    AZURE = "azureDisk"
    ISCSI = "iscsi"
    RBD = "rbd"


class DiskVolume(msgspec.Struct, frozen=True, kw_only=True):
    """A disk that the pod names itself: `name` is a disk's name, volume id, IQN or image."""

    kind: DiskKind
    name: str
    pool: str = ""
    monitors: tuple[str, ...] = ()
    is_read_only: bool = False


Volume: TypeAlias = ClaimVolume | EphemeralVolume | DiskVolume
