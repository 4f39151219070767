"""NodeVolumeLimits: a CSI driver attaches only so many volumes to one node.

Volumes count once, however many pods of the node use them. One that is known only from a
VolumeAttachment counts as attached and, if the pod brings it, as new. A node of which no CSINode is
known has no limits, and a new node is taken to have every driver.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

import msgspec
import numpy as np

from springtide.engine.framework.ask import PodAsk
from springtide.engine.framework.claims import asked_claims, named_disks, stranger
from springtide.engine.framework.rule import SKIPPED, Outcome, Prepared, Reads, Ready, Selection
from springtide.engine.simulation.sanitise import TEMPLATE_LABEL
from springtide.model.ledger import Ledger
from springtide.model.storage import CsiNode, Storage
from springtide.model.volumes import DiskKind

TOO_MANY: Final = "node(s) exceed max volume count"
# Disks that a CSI driver may stand in for.
_MIGRATABLE: Final = frozenset({DiskKind.GCE, DiskKind.AWS, DiskKind.AZURE})
_TOO_MANY: Final = 1

Attachable = tuple[str, str]
"""A volume as the attaching side knows it: the driver and its name for the volume."""


class NodeVolumeLimits:
    """The NodeVolumeLimits plugin of kube-scheduler; without storage it looks at nothing."""

    name = "NodeVolumeLimits"
    reads = Reads.USAGE

    def __init__(self, storage: Storage | None = None) -> None:
        self._storage = storage
        self._attachables = Attachables(storage or Storage())

    def prepare(self, ask: PodAsk, ledger: Ledger) -> Prepared:
        """Collect the volumes that the pod brings along."""
        claims = asked_claims(ask) if self._storage is not None else ()
        if not claims and not any(
            each.kind in _MIGRATABLE for each in named_disks(ask.spec.volumes)
        ):
            return SKIPPED
        storage = self._storage or Storage()
        brought: list[Attachable] = []
        for named in claims:
            claim = storage.claims.get(named.key)
            if claim is None:
                return Ready(_Unknown(f"looking up PVC {named.key}: {named.not_found}"))
            if complaint := stranger(named, claim, ask):
                return Ready(_Unknown(complaint))
            if (attachable := self._attachables.of_claim(named.key)) is not None:
                brought.append(attachable)
        return Ready(_Limits(dict.fromkeys(brought), self._attachables))


class RowUse(msgspec.Struct, frozen=True):
    """What is attached to one row: by its pods, and in all by driver.

    `claims` is the ledger's own tally, which every change on the row replaces by another one.
    """

    node: str
    claims: Mapping[str, int] | None
    by_pods: frozenset[Attachable]
    counts: Mapping[str, int]


class Attachables:
    """Which volumes claims and attachments are about, looked up once each."""

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self._of_claims: dict[str, Attachable | None] = {}
        self._uses: dict[int, RowUse] = {}
        self._ledger: Ledger | None = None

    def use(self, ledger: Ledger, row: int) -> RowUse:
        """Return what is attached to a row, worked out once until its pods change."""
        if ledger is not self._ledger:
            self._ledger, self._uses = ledger, {}
        known, node, claims = self._uses.get(row), ledger.names[row], ledger.claims.get(row)
        if known is None or known.claims is not claims or known.node != node:
            known = self._uses[row] = self._use(node, claims)
        return known

    def _use(self, node: str, claims: Mapping[str, int] | None) -> RowUse:
        used = map(self.of_claim, claims or ())
        by_pods = frozenset(each for each in used if each is not None)
        counts = Counter(driver for driver, _ in by_pods.union(self.on(node)))
        return RowUse(node, claims, by_pods, counts)

    def of_claim(self, key: str) -> Attachable | None:
        """Return the volume of a claim, one to be made if there is none; None if not attached."""
        if key not in self._of_claims:
            self._of_claims[key] = self._of_claim(key)
        return self._of_claims[key]

    def of_volume(self, name: str) -> Attachable | None:
        """Return the volume as its driver knows it, None if it has no driver."""
        volume = self.storage.volumes.get(name)
        if volume is None or not volume.driver or not volume.handle:
            return None
        return volume.driver, volume.handle

    def on(self, node: str) -> Iterable[Attachable]:
        """Yield what is attached to a node by VolumeAttachments."""
        found = map(self.of_volume, self.storage.attached.get(node, ()))
        return (each for each in found if each is not None)

    def _of_claim(self, key: str) -> Attachable | None:
        claim = self.storage.claims.get(key)
        if claim is None:
            return None
        if claim.volume in self.storage.volumes:
            return self.of_volume(claim.volume)
        storage_class = self.storage.classes.get(claim.class_name)
        if storage_class is None or not storage_class.provisioner:
            return None
        # No volume has such a handle: a slash cannot start one that a driver made.
        return storage_class.provisioner, f"/{key}"


class _Unknown:
    """No node will do, because a claim is not what the pod says."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def evaluate(self, ledger: Ledger, selected: Selection) -> Outcome | None:
        refused = np.ones(len(selected.rows), np.bool_)
        return Outcome(refused=refused, unresolvable=refused)

    def reasons(self, detail: int) -> tuple[str, ...]:
        assert detail
        return (self._reason,)


class _Limits:
    def __init__(self, brought: Mapping[Attachable, None], attachables: Attachables) -> None:
        self._brought = frozenset(brought)
        self._drivers = sorted({driver for driver, _ in brought})
        self._attachables = attachables
        known = attachables.storage.drivers
        self._needed = [
            driver
            for driver in self._drivers
            if driver in known and known[driver].must_be_installed
        ]

    def evaluate(self, ledger: Ledger, selected: Selection) -> Outcome | None:
        storage = self._attachables.storage
        if not self._brought or not (storage.csi_nodes or self._needed):
            return None
        found = [self._judge(ledger, row) for row in selected.rows.tolist()]
        detail = np.array(found, np.uint64)
        refused = detail > 0
        return Outcome(refused=refused, unresolvable=np.zeros_like(refused), detail=detail)

    def reasons(self, detail: int) -> tuple[str, ...]:
        if detail == _TOO_MANY:
            return (TOO_MANY,)
        driver = self._needed[detail.bit_length() - 2]
        return (f"{driver} CSI driver is not installed on the node",)

    def _judge(self, ledger: Ledger, row: int) -> int:
        """Return zero if the row takes the volumes, else a bit for the reason."""
        csi_node = self._attachables.storage.csi_nodes.get(ledger.names[row])
        if self._needed and TEMPLATE_LABEL not in ledger.nodes[row].labels:
            installed = dict(csi_node.drivers) if csi_node else {}
            for index, driver in enumerate(self._needed):
                if driver not in installed:
                    return 1 << (index + 1)
        if csi_node is None:
            return 0
        return self._counted(csi_node, ledger, row)

    def _counted(self, csi_node: CsiNode, ledger: Ledger, row: int) -> int:
        use = self._attachables.use(ledger, row)
        new = self._brought - use.by_pods
        for driver, limit in csi_node.drivers if new else ():
            if limit is None or driver not in self._drivers:
                continue
            more = sum(each[0] == driver for each in new)
            if more and more + use.counts.get(driver, 0) > limit:
                return _TOO_MANY
        return 0
