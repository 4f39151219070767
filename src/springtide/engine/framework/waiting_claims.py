"""Claims that wait for their first consumer: met by a volume that is there, or by one to be made.

A volume serves one claim of the pod only. The smallest claim chooses first, and takes the smallest
volume that does. What is not met this way is made, if the class can make it: the first claim for
which it cannot decides why the node is refused.
"""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec
import numpy as np

from springtide.base.quantity import Quantity
from springtide.base.selectors import MalformedSelector, compile_selector
from springtide.engine.framework.label_columns import LabelColumns
from springtide.engine.framework.node_terms import AnyOf
from springtide.engine.framework.reach import (
    allowed_by,
    anywhere,
    new_nodes,
    reach,
    selected_by,
)
from springtide.engine.framework.rule import Rows, Selection
from springtide.model.columns import Bool
from springtide.model.ledger import Ledger
from springtide.model.storage import (
    Claim,
    PersistentVolume,
    Storage,
    StorageCapacity,
    StorageClass,
)

NO_PROVISIONER: Final = "kubernetes.io/no-provisioner"
FILESYSTEM: Final = "Filesystem"
AVAILABLE: Final = "Available"
_NOTHING: Final = Quantity(nano=0)
_NO_ROW: Final = -1
NONE: Final = -1


class Verdict(msgspec.Struct, frozen=True):
    """Which rows have no volume for a claim, and which have no room to make one."""

    no_volume: Bool
    no_space: Bool


class Served(msgspec.Struct, frozen=True):
    """One claim, the volumes that could serve it, and by row which of them does (`NONE`: none)."""

    claim: Claim
    volumes: Sequence[PersistentVolume]
    chosen: Rows


class _Provision(msgspec.Struct, frozen=True):
    """Where a volume may be made, and where there is room for it."""

    allowed: AnyOf
    room: AnyOf


class Shelf:
    """The volumes of a storage by who may take them: most of a cluster's are taken for good."""

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self._free: dict[str, list[PersistentVolume]] = {}
        self._reserved: dict[str, list[PersistentVolume]] = {}
        for volume in storage.volumes.values():
            if volume.claim is None:
                self._free.setdefault(volume.class_name, []).append(volume)
            else:
                key = f"{volume.claim.namespace}/{volume.claim.name}"
                self._reserved.setdefault(key, []).append(volume)

    def open_to(self, claim: Claim) -> Iterator[PersistentVolume]:
        """Yield the volumes of the claim's class that are not reserved for another."""
        for volume in self._reserved.get(claim.key, ()):
            is_meant = volume.claim is not None and volume.claim.uid in {"", claim.uid}
            if is_meant and volume.class_name == claim.class_name:
                yield volume
        yield from self._free.get(claim.class_name, ())


class WaitingClaims:
    """The waiting claims of one pod, judged on any rows."""

    def __init__(self, claims: Sequence[Claim], shelf: Shelf, columns: LabelColumns) -> None:
        self._meant = [each for each in claims if each.selected_node is not None]
        free = (each for each in claims if each.selected_node is None)
        self._free = sorted(free, key=lambda claim: (claim.requested or _NOTHING).nano)
        self._volumes = [
            candidates(each, shelf, earlier=self._free[:index].count(each))
            for index, each in enumerate(self._free)
        ]
        self._provisions = {each.key: _provision(each, shelf.storage, columns) for each in claims}
        self._new_nodes = new_nodes(columns)
        self._columns = columns
        wanted = [volume for volumes in self._volumes for volume in volumes]
        distinct = {volume.name: volume for volume in wanted}
        self._is_contested = len(distinct) < len(wanted)
        self._reaches = (
            {name: _union([volume], columns) for name, volume in distinct.items()}
            if self._is_contested
            else {}
        )
        self._unions = [_union(volumes, columns) for volumes in self._volumes]

    def judge(self, ledger: Ledger, selected: Selection) -> Verdict:
        """Return the verdict over the selected rows."""
        is_open = self._is_meant(ledger, selected.rows)
        no_volume = ~is_open
        no_space: Bool = np.zeros_like(is_open)
        wants: list[tuple[Claim, Bool]] = [(claim, is_open) for claim in self._meant]
        met = self._met(ledger, selected)
        wants += [(claim, ~each) for claim, each in zip(self._free, met, strict=True)]
        for claim, unmet in wants:
            provision = self._provisions[claim.key]
            wanting = unmet & is_open
            if provision is None:
                no_volume |= wanting
                is_open = is_open & ~wanting
                continue
            may_make = provision.allowed.where(ledger, selected)
            has_room = provision.room.where(ledger, selected)
            has_room |= self._new_nodes.where(ledger, selected)
            no_volume |= wanting & ~may_make
            no_space |= wanting & may_make & ~has_room
            is_open = is_open & ~(wanting & ~(may_make & has_room))
        return Verdict(no_volume, no_space)

    @property
    def claims(self) -> list[Claim]:
        """Return the claims in the order in which volumes are made for them."""
        return [*self._meant, *self._free]

    def served(self, ledger: Ledger, selected: Selection) -> list[Served]:
        """Return which volume serves each claim that no node is chosen for."""
        distinct = {volume.name: volume for volumes in self._volumes for volume in volumes}
        reaches = self._reaches or {
            name: _union([volume], self._columns) for name, volume in distinct.items()
        }
        masks = {name: each.where(ledger, selected) for name, each in reaches.items()}
        choose = _chosen if self._is_contested else _first
        chosen = choose(self._volumes, masks, len(selected.rows))
        return [Served(*each) for each in zip(self._free, self._volumes, chosen, strict=True)]

    def _is_meant(self, ledger: Ledger, rows: Rows) -> Bool:
        """Return which rows are the one that every claim with a chosen node is meant for."""
        is_meant: Bool = np.ones(len(rows), np.bool_)
        for claim in self._meant:
            is_meant &= rows == ledger.rows.get(claim.selected_node or "", _NO_ROW)
        return is_meant

    def _met(self, ledger: Ledger, selected: Selection) -> list[Bool]:
        """Return for each free claim on which rows a volume that is there serves it."""
        if not self._is_contested:
            return [union.where(ledger, selected) for union in self._unions]
        return [each.chosen != NONE for each in self.served(ledger, selected)]


def _union(volumes: Sequence[PersistentVolume], columns: LabelColumns) -> AnyOf:
    if any(each.node_terms is None for each in volumes):
        return anywhere(columns)
    return reach((term for each in volumes for term in each.node_terms or ()), columns)


def _first(
    volumes: Sequence[Sequence[PersistentVolume]], masks: dict[str, Bool], count: int
) -> list[Rows]:
    """Let each claim have the first of its volumes, which no other claim could take."""
    chosen: list[Rows] = [np.full(count, NONE, np.intp) for _ in volumes]
    for own_choice, own in zip(chosen, volumes, strict=True):
        for position in reversed(range(len(own))):
            own_choice[masks[own[position].name]] = position
    return chosen


def _chosen(
    volumes: Sequence[Sequence[PersistentVolume]], masks: dict[str, Bool], count: int
) -> list[Rows]:
    """Let each claim choose in turn, row by row, among volumes that several could take."""
    chosen: list[Rows] = [np.full(count, NONE, np.intp) for _ in volumes]
    for index in range(count):
        taken: set[str] = set()
        for own_choice, own in zip(chosen, volumes, strict=True):
            open_to = (
                (position, each.name)
                for position, each in enumerate(own)
                if each.name not in taken and masks[each.name][index]
            )
            position, name = next(open_to, (NONE, ""))
            if position != NONE:
                taken.add(name)
                own_choice[index] = position
    return chosen


def candidates(claim: Claim, shelf: Shelf, *, earlier: int = 0) -> tuple[PersistentVolume, ...]:
    """Return the volumes that would serve a claim, wherever they are, the smallest first.

    A volume that is reserved for the claim is the only one. A pod may name a claim twice; as in
    kube-scheduler, that takes two volumes, so `earlier` ones have taken what is reserved.
    """
    requested = (claim.requested or _NOTHING).nano
    fitting = [
        volume
        for volume in shelf.open_to(claim)
        if (volume.capacity or _NOTHING).nano >= requested
        and (volume.mode or FILESYSTEM) == (claim.mode or FILESYSTEM)
        and volume.attributes_class == claim.attributes_class
        and not volume.is_terminating
    ]
    reserved = tuple(each for each in fitting if each.claim is not None)[earlier:]
    if reserved:
        return reserved[:1]
    unreserved = (each for each in fitting if each.claim is None)
    free = (each for each in unreserved if each.phase == AVAILABLE and _suits(each, claim))
    return tuple(sorted(free, key=lambda volume: (volume.capacity or _NOTHING).nano))


def _suits(volume: PersistentVolume, claim: Claim) -> bool:
    if not set(claim.access_modes) <= set(volume.access_modes):
        return False
    if claim.selector is None:
        return True
    try:
        return compile_selector(claim.selector).matches(volume.labels)
    except MalformedSelector:
        return False


def _provision(claim: Claim, storage: Storage, columns: LabelColumns) -> _Provision | None:
    """Return where a volume for the claim may be made, None if its class makes none."""
    storage_class = storage.classes[claim.class_name]
    if storage_class.provisioner in {"", NO_PROVISIONER}:
        return None
    return _Provision(
        allowed_by(storage_class, columns), _room(claim, storage_class, storage, columns)
    )


def _room(
    claim: Claim, storage_class: StorageClass, storage: Storage, columns: LabelColumns
) -> AnyOf:
    sufficient = sufficient_capacities(claim, storage_class, storage)
    if sufficient is None:
        return anywhere(columns)
    return selected_by((each.nodes for each in sufficient if each.nodes is not None), columns)


def sufficient_capacities(
    claim: Claim, storage_class: StorageClass, storage: Storage
) -> list[StorageCapacity] | None:
    """Return the reports of enough room for the claim, None if room does not matter."""
    driver = storage.drivers.get(storage_class.provisioner)
    if claim.requested is None or driver is None or not driver.reports_capacity:
        return None
    wanted = claim.requested.value()
    return [
        each
        for each in storage.capacities
        if each.class_name == storage_class.name
        and each.nodes is not None
        and (limit := each.volume_max or each.capacity) is not None
        and limit.value() >= wanted
    ]
