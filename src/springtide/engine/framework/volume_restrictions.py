"""VolumeRestrictions: a disk has one writer on a node, a ReadWriteOncePod claim one pod in the cluster.

Disks are those that pods name themselves. Two pods share one only if both merely read; for disks of
Amazon's cloud not even then.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from springtide.engine.framework.ask import PodAsk
from springtide.engine.framework.claims import asked_claims, named_disks, rejection
from springtide.engine.framework.rule import (
    Outcome,
    Prepared,
    Reads,
    Ready,
    Rejected,
    Selection,
    Skipped,
)
from springtide.model.ledger import Ledger
from springtide.model.storage import READ_WRITE_ONCE_POD, Storage
from springtide.model.volumes import DiskKind, DiskVolume, Volume

DISK_IN_USE: Final = "node(s) had no available disk"
CLAIM_IN_USE: Final = (
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode "
    "already in-use by another pod"
)
_DISK: Final = 1
_CLAIM: Final = 2


class VolumeRestrictions:
    """The VolumeRestrictions plugin of kube-scheduler; without storage no claim is looked at."""

    name = "VolumeRestrictions"
    reads = Reads.USAGE

    def __init__(self, storage: Storage | None = None) -> None:
        self._storage = storage

    def prepare(self, ask: PodAsk, ledger: Ledger) -> Prepared:
        """Find the disks that are watched over, and whether a claim for one pod is taken."""
        disks = watched_disks(ask.spec.volumes)
        once: list[str] = []
        for named in asked_claims(ask) if self._storage is not None else ():
            if named.is_ephemeral:
                continue
            claim = self._storage.claims.get(named.key) if self._storage else None
            if claim is None:
                return Rejected(rejection(self.name, named.not_found))
            if READ_WRITE_ONCE_POD in claim.access_modes:
                once.append(named.key)
        is_taken = any(key in ledger.claimed for key in once)
        # Any pod that is placed, wherever it is, may take such a claim.
        if disks or is_taken:
            return Ready(_Restrictions(disks, is_taken=is_taken), is_lasting=not once)
        return Skipped(is_lasting=not once)


def watched_disks(volumes: Iterable[Volume]) -> tuple[DiskVolume, ...]:
    """Return the disks that one node can mount only once."""
    return tuple(each for each in named_disks(volumes) if each.kind is not DiskKind.AZURE)


class _Restrictions:
    def __init__(self, disks: Sequence[DiskVolume], *, is_taken: bool) -> None:
        self._disks = disks
        self._is_taken = is_taken

    def evaluate(self, ledger: Ledger, selected: Selection) -> Outcome | None:
        detail = np.full(len(selected.rows), _CLAIM if self._is_taken else 0, np.uint64)
        if self._disks and ledger.disks:
            used = map(ledger.disks.get, selected.rows.tolist())
            taken = [disks is not None and _conflict(self._disks, disks) for disks in used]
            detail[np.array(taken, np.bool_)] = _DISK
        refused = detail > 0
        return Outcome(refused=refused, unresolvable=np.zeros_like(refused), detail=detail)

    def reasons(self, detail: int) -> tuple[str, ...]:
        return (DISK_IN_USE,) if detail & _DISK else (CLAIM_IN_USE,)


def _conflict(wanted: Iterable[DiskVolume], used: Iterable[DiskVolume]) -> bool:
    others = tuple(used)
    return any(_meet(disk, other) for disk in wanted for other in others)


def _meet(disk: DiskVolume, other: DiskVolume) -> bool:
    if (disk.kind, disk.name, disk.pool) != (other.kind, other.name, other.pool):
        return False
    if disk.kind is DiskKind.AWS:
        return True
    if disk.kind is DiskKind.RBD and set(disk.monitors).isdisjoint(other.monitors):
        return False
    return not (disk.is_read_only and other.is_read_only)
