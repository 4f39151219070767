"""VolumeZone: a bound volume that is labelled with a zone or region is used from there.

A label may list several zones, joined by `__`. A node without any zone or region label takes every
volume, as in clusters that have no zones.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec
import numpy as np

from springtide.engine.framework.ask import PodAsk
from springtide.engine.framework.claims import NamedClaim, asked_claims, rejection
from springtide.engine.framework.label_columns import LabelColumns, columns_of
from springtide.engine.framework.rule import (
    SKIPPED,
    Outcome,
    Prepared,
    Reads,
    Ready,
    Rejected,
    Selection,
)
from springtide.model.columns import Bool
from springtide.model.ledger import Ledger
from springtide.model.storage import WAIT_FOR_FIRST_CONSUMER, PersistentVolume, Storage

NO_ZONE: Final = "node(s) had no available volume zone"
ZONE_DELIMITER: Final = "__"
_ZONE: Final = "topology.kubernetes.io/zone"
_REGION: Final = "topology.kubernetes.io/region"
_GENERAL: Final = {
    "failure-domain.beta.kubernetes.io/zone": _ZONE,
    "failure-domain.beta.kubernetes.io/region": _REGION,
}
_KEYS: Final = (*_GENERAL, _ZONE, _REGION)


class Place(msgspec.Struct, frozen=True):
    """The values of one label that a volume can be reached from."""

    key: str
    values: frozenset[str]


class VolumeZone:
    """The VolumeZone plugin of kube-scheduler; without storage it looks at nothing."""

    name = "VolumeZone"
    reads = Reads.NODE

    def __init__(self, storage: Storage | None = None) -> None:
        self._storage = storage

    def prepare(self, ask: PodAsk, ledger: Ledger) -> Prepared:
        """Collect where the pod's bound volumes are."""
        storage = self._storage
        if storage is None or not ask.spec.volumes:
            return SKIPPED
        places: list[Place] = []
        for named in asked_claims(ask):
            found = () if named.is_ephemeral else _places_of(named, storage)
            if isinstance(found, str):
                return Rejected(rejection(self.name, found))
            places += found
        if not places:
            return SKIPPED
        columns = columns_of(ledger.labelsets)
        return Ready(_Zones(places, columns))


def _places_of(named: NamedClaim, storage: Storage) -> Sequence[Place] | str:
    """Return where a claim's volume is, or why that cannot be told."""
    claim = storage.claims.get(named.key)
    if claim is None:
        return named.not_found
    if not claim.volume:
        return _unbound(claim.class_name, storage)
    volume = storage.volumes.get(claim.volume)
    if volume is None:
        return f'persistentvolume "{claim.volume}" not found'
    return places(volume)


def _unbound(class_name: str, storage: Storage) -> Sequence[Place] | str:
    if not class_name:
        return "PersistentVolumeClaim had no pv name and storageClass name"
    storage_class = storage.classes.get(class_name)
    if storage_class is None:
        return f'storageclass.storage.k8s.io "{class_name}" not found'
    if storage_class.binding_mode is None:
        return f'VolumeBindingMode not set for StorageClass "{class_name}"'
    waits = storage_class.binding_mode == WAIT_FOR_FIRST_CONSUMER
    return () if waits else "PersistentVolume had no name"


def places(volume: PersistentVolume) -> tuple[Place, ...]:
    """Return the places that a volume's labels name; a label with an empty zone names none."""
    found = ((key, _zones(volume.labels[key])) for key in _KEYS if key in volume.labels)
    return tuple(Place(key, zones) for key, zones in found if zones)


def _zones(label: str) -> frozenset[str]:
    zones = [zone.strip() for zone in label.split(ZONE_DELIMITER)]
    return frozenset(zones) if all(zones) else frozenset()


class _Zones:
    def __init__(self, places: Sequence[Place], columns: LabelColumns) -> None:
        self._places = tuple(dict.fromkeys(places))
        self._columns = columns

    def evaluate(self, ledger: Ledger, selected: Selection) -> Outcome | None:
        assert ledger.labelsets is self._columns.labelsets
        has_place: Bool = self._any_given(_KEYS)
        elsewhere: Bool = np.zeros_like(has_place)
        for place in self._places:
            elsewhere |= ~self._meets(place)
        refused = (has_place & elsewhere).take(ledger.labelset[selected.cells])
        return Outcome(refused=refused, unresolvable=refused)

    def reasons(self, detail: int) -> tuple[str, ...]:
        assert detail
        return (NO_ZONE,)

    def _any_given(self, keys: Iterable[str]) -> Bool:
        given = [self._columns.where(key, lambda value: value is not None) for key in keys]
        any_given: Bool = np.logical_or.reduce(given)
        return any_given

    def _meets(self, place: Place) -> Bool:
        """Return which label sets have one of the values; the label's newer name stands in."""
        met = self._columns.where(place.key, place.values.__contains__)
        newer = _GENERAL.get(place.key)
        if newer is None:
            return met
        is_absent = self._columns.where(place.key, lambda value: value is None)
        return met | (is_absent & self._columns.where(newer, place.values.__contains__))
