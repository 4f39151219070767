"""The fields of volumes that keep pods apart or to nodes."""

from springtide.wire.k8s.schema.shared import Present, Read


class ClaimSource(Read, frozen=True):
    """A claim in the pod's namespace."""

    claim_name: str = ""


class GceDisk(Read, frozen=True):
    """A disk of Google's cloud."""

    pd_name: str = ""
    read_only: bool = False


class AwsDisk(Read, frozen=True, rename={"volume_id": "volumeID", "read_only": "readOnly"}):
    """A disk of Amazon's cloud."""

    volume_id: str = ""
    read_only: bool = False


class AzureDisk(Read, frozen=True):
    """A disk of Microsoft's cloud."""

    disk_name: str = ""


class IscsiDisk(Read, frozen=True):
    """A disk behind iSCSI."""

    iqn: str = ""
    read_only: bool = False


class RbdImage(Read, frozen=True):
    """A block device of Ceph."""

    monitors: tuple[str, ...] = ()
    image: str = ""
    pool: str = ""
    read_only: bool = False


class ImageVolume(Read, frozen=True):
    """A volume that is an image."""

    reference: str = ""


class Volume(Read, frozen=True):
    """A volume, as far as its kind can decide about nodes; an image has a say in scores only."""

    name: str = ""
    persistent_volume_claim: ClaimSource | None = None
    ephemeral: Present | None = None
    gce_persistent_disk: GceDisk | None = None
    aws_elastic_block_store: AwsDisk | None = None
    rbd: RbdImage | None = None
    iscsi: IscsiDisk | None = None
    azure_disk: AzureDisk | None = None
    image: ImageVolume | None = None

    @property
    def decides(self) -> bool:
        """Return whether the volume is of a kind that can decide about nodes."""
        return (
            self.persistent_volume_claim is not None
            or self.ephemeral is not None
            or self.gce_persistent_disk is not None
            or self.aws_elastic_block_store is not None
            or self.rbd is not None
            or self.iscsi is not None
            or self.azure_disk is not None
        )
