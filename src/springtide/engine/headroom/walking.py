"""The room that only exact placements can tell: pod after pod on each distinct state of devices.

Rows whose devices are equal but for their ids, and in equal use, take equally many pods, so that one
of them is walked for all. What a placement answers is remembered by the tables.
"""

from collections.abc import Iterator, Mapping

import numpy as np

from springtide.engine.headroom.verdicts import Refusals
from springtide.engine.placement.classes import PodClass
from springtide.engine.placement.family import Rows
from springtide.engine.placement.tables import Tables
from springtide.model.columns import Int64, Interner
from springtide.model.device import DeviceView, Inventory, nameless
from springtide.model.ledger import Ledger
from springtide.model.refusal import Refusal

Views = Mapping[str, DeviceView]


class Walks:
    """Walks over the devices of one ledger that does not change meanwhile."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._alike: dict[str, list[int]] = {}

    def over(self, pod_class: PodClass, rows: Rows, limits: Int64, counts: Int64) -> Refusals:
        """Write into `counts` what each row takes, at most its limit; yield why devices refuse."""
        for group in self._groups(pod_class, rows):
            mine = rows[group]
            views = {ask.family: self._view(ask.family, int(mine[0])) for ask in pod_class.asks}
            taken, refusal = self._walk(pod_class, views, int(limits[group].max()))
            counts[mine] = np.minimum(taken, limits[group])
            full = mine[limits[group] > taken]
            if refusal is not None and len(full):
                yield refusal, full

    def _walk(self, pod_class: PodClass, views: Views, limit: int) -> tuple[int, Refusal | None]:
        """Return how many pods these devices take, at most the limit, and why not another one."""
        for taken in range(limit):
            following = self._step(pod_class, views)
            if isinstance(following, Refusal):
                return taken, following
            views = following
        return limit, None

    def _step(self, pod_class: PodClass, views: Views) -> Views | Refusal:
        after = dict(views)
        for ask in pod_class.asks:
            view = after[ask.family]
            answer = self._tables.place_on(ask, view)
            if isinstance(answer, Refusal):
                return answer
            family = self._tables.families[ask.family]
            after[ask.family] = view.plus(family.shares(answer, view.inventory))
        return after

    def _groups(self, pod_class: PodClass, rows: Rows) -> Iterator[Rows]:
        """Yield which of the rows are in one state."""
        if any(ask.reads_ids for ask in pod_class.asks):
            yield from (np.array([index], np.intp) for index in range(len(rows)))
            return
        states = [self._states(ask.family) for ask in pod_class.asks]
        found: dict[tuple[int, ...], list[int]] = {}
        for index, row in enumerate(rows.tolist()):
            found.setdefault(tuple(state[row] for state in states), []).append(index)
        yield from (np.array(group, np.intp) for group in found.values())

    def _view(self, family: str, row: int) -> DeviceView:
        view = self._tables.ledger.view(row, family)
        assert view is not None
        return view

    def _states(self, family: str) -> list[int]:
        """Return a number for the state of each row's devices."""
        known = self._alike.get(family)
        if known is None:
            known = self._alike[family] = _numbered(self._tables.ledger, family)
        return known


def _numbered(ledger: Ledger, family: str) -> list[int]:
    columns = ledger.devices[family]
    kinds: Interner[Inventory | None] = Interner((None,))
    kind_of = [kinds.code(_kind(inventory)) for inventory in columns.inventories.values]
    cells = (
        columns.memory_total, columns.memory_used, columns.cores_total, columns.cores_used,
        columns.slots_total, columns.slots_used, columns.model, columns.mode, columns.numa,
        columns.healthy, columns.cordoned, columns.opaque,
    )  # fmt: skip
    count = ledger.count
    words = np.concatenate([np.asarray(each[:count], np.int32) for each in cells], axis=1)
    states: Interner[object] = Interner()
    numbers = []
    for row, word in enumerate(np.ascontiguousarray(words)):
        code = int(columns.inventory[row])
        kind = kind_of[code] if code >= 0 else -1
        occupied = (
            tuple(columns.occupied.get((row, each), ()) for each in range(columns.width))
            if columns.occupied
            else ()
        )
        numbers.append(states.code((kind, word.tobytes(), occupied)))
    return numbers


def _kind(inventory: Inventory) -> Inventory | None:
    """Return what columns do not say of an inventory, None if they say it all."""
    devices = inventory.devices
    is_plain = not any(
        device.links or device.mig_profiles or device.network is not None for device in devices
    )
    ids = {device.id for device in devices}
    has_order = [device.index for device in devices] == list(range(len(devices)))
    return None if is_plain and has_order and len(ids) == len(devices) else nameless(inventory)
