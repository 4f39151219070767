"""VolumeBinding: the pod's bound volumes can be reached, and its unbound claims can be met.

A claim that waits for its first consumer is met by the smallest volume that is there and fits, or
else by one that is made: where its class may make one, and where the driver has room for it. What
drivers report of their room does not cover new nodes, which are taken to have enough.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from springtide.engine.framework.ask import PodAsk
from springtide.engine.framework.claims import NamedClaim, asked_claims, rejection, stranger
from springtide.engine.framework.label_columns import LabelColumns, columns_of
from springtide.engine.framework.reach import reach
from springtide.engine.framework.rule import (
    SKIPPED,
    Bits,
    Broken,
    Outcome,
    Prepared,
    Reads,
    Ready,
    Rejected,
    Selection,
)
from springtide.engine.framework.waiting_claims import Shelf, WaitingClaims
from springtide.model.columns import Bool
from springtide.model.ledger import Ledger
from springtide.model.storage import WAIT_FOR_FIRST_CONSUMER, Claim, Storage

UNBOUND: Final = "pod has unbound immediate PersistentVolumeClaims"
OUT_OF_REACH: Final = "node(s) didn't match PersistentVolume's node affinity"
NO_VOLUME: Final = "node(s) didn't find available persistent volumes to bind"
NO_SPACE: Final = "node(s) did not have enough free storage"
NO_SUCH_VOLUME: Final = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
_REASONS: Final = (OUT_OF_REACH, NO_VOLUME, NO_SPACE, NO_SUCH_VOLUME)
_OUT_OF_REACH, _NO_VOLUME, _NO_SPACE, _NO_SUCH_VOLUME = (
    np.uint64(1 << index) for index in range(len(_REASONS))
)
LOST: Final = "Lost"


class VolumeBinding:
    """The VolumeBinding plugin of kube-scheduler; without storage it looks at nothing."""

    name = "VolumeBinding"
    reads = Reads.NODE

    def __init__(self, storage: Storage | None = None) -> None:
        self._storage = storage
        self._shelf = Shelf(storage or Storage())

    def prepare(self, ask: PodAsk, ledger: Ledger) -> Prepared:
        """Part the claims into bound and waiting ones; any other kind rejects the pod."""
        storage = self._storage
        if storage is None or not ask.spec.volumes:
            return SKIPPED
        named = asked_claims(ask)
        if not named:
            return SKIPPED
        fault = next(filter(None, (_fault(each, storage, ask) for each in named)), "")
        if fault:
            return Rejected(rejection(self.name, fault))
        claims = [storage.claims[each.key] for each in named]
        waiting = [claim for claim in claims if not claim.is_bound]
        for claim in waiting:
            storage_class = storage.classes.get(claim.class_name)
            if storage_class is not None and storage_class.binding_mode is None:
                return Broken(f'VolumeBindingMode not set for StorageClass "{storage_class.name}"')
        if not all(_waits(claim, storage) for claim in waiting):
            return Rejected(rejection(self.name, UNBOUND))
        columns = columns_of(ledger.labelsets)
        bound = [claim.volume for claim in claims if claim.is_bound]
        return Ready(Binding(bound, waiting, self._shelf, columns))


def _fault(named: NamedClaim, storage: Storage, ask: PodAsk) -> str:
    """Return why a pod cannot use a claim anywhere, empty if it can."""
    claim = storage.claims.get(named.key)
    quoted = f'persistentvolumeclaim "{named.name}"'
    if claim is None:
        waits = f"waiting for ephemeral volume controller to create the {quoted}"
        return waits if named.is_ephemeral else named.not_found
    if claim.phase == LOST:
        return f'{quoted} bound to non-existent persistentvolume "{claim.volume}"'
    if claim.is_terminating:
        return f"{quoted} is being deleted"
    return stranger(named, claim, ask)


def _waits(claim: Claim, storage: Storage) -> bool:
    """Return whether an unbound claim waits for a pod; one with a volume in view does not."""
    storage_class = storage.classes.get(claim.class_name)
    mode = storage_class.binding_mode if storage_class is not None else None
    return mode == WAIT_FOR_FIRST_CONSUMER and not claim.volume


class Binding:
    """The bound and the waiting claims of one ask."""

    def __init__(
        self,
        bound: Sequence[str],
        waiting: Sequence[Claim],
        shelf: Shelf,
        columns: LabelColumns,
    ) -> None:
        volumes = [shelf.storage.volumes.get(name) for name in bound]
        # The first volume that is missing ends the search.
        found = volumes.index(None) if None in volumes else len(volumes)
        self._is_missing = found < len(volumes)
        self._bound = [
            reach(each.node_terms, columns)
            for each in volumes[:found]
            if each is not None and each.node_terms is not None
        ]
        self.waiting = WaitingClaims(waiting, shelf, columns) if waiting else None

    def evaluate(self, ledger: Ledger, selected: Selection) -> Outcome | None:
        within_reach: Bool = np.ones(len(selected.rows), np.bool_)
        for each in self._bound:
            within_reach &= each.where(ledger, selected)
        detail: Bits = np.where(within_reach, np.uint64(0), _OUT_OF_REACH)
        if self._is_missing:
            detail[within_reach] |= _NO_SUCH_VOLUME
        if self.waiting is not None:
            verdict = self.waiting.judge(ledger, selected)
            detail[verdict.no_volume] |= _NO_VOLUME
            detail[verdict.no_space] |= _NO_SPACE
        refused = detail > 0
        return Outcome(refused=refused, unresolvable=refused, detail=detail)

    def reasons(self, detail: int) -> tuple[str, ...]:
        return tuple(text for bit, text in enumerate(_REASONS) if detail >> bit & 1)
