"""Which nodes are preferred: how loaded they are, and how close the pod's chips are to each other."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np
from msgspec import structs

from springtide.engine.placement.family import Rows
from springtide.engine.placement.order import SPREAD
from springtide.engine.placement.trial import INVENTORIES_MAX
from springtide.model.columns import Float32, Int32, distinct
from springtide.model.device import Allocation, DeviceView, Inventory, nameless
from springtide.model.device_columns import DeviceColumns
from springtide.vendors.ascend.ask import AscendAsk
from springtide.vendors.ascend.config import FAMILY_NAME, NETWORKED_PREFIX
from springtide.vendors.ascend.fit import candidates_of, place
from springtide.vendors.ascend.topology import closeness

_ANSWERS_MAX: Final = 16384
_SCALE: Final = 10.0
_NOTHING: Final = Inventory(FAMILY_NAME, ())


def scores(ask: AscendAsk, columns: DeviceColumns, rows: Rows, *, loads: Float32) -> Float32:
    """Return each row's score, given how loaded it is; negative under the node policy spread."""
    if any(request.chip.is_networked for request in ask.all_requests()):
        loads = loads + _closeness(ask, columns, rows)
    return -loads if ask.node_policy == SPREAD else loads


def _closeness(ask: AscendAsk, columns: DeviceColumns, rows: Rows) -> Float32:
    """Return what networks add to the scores: by inventory, or by inventory and use."""
    inventories: Int32 = columns.inventory.take(rows)
    present = distinct(inventories)
    shapes = [
        _shape(columns.inventories.values[code]) if code >= 0 else _NOTHING
        for code in present.tolist()
    ]
    foreseen = [_foreseen(ask, shape) for shape in shapes]
    which = np.searchsorted(present, inventories)
    added: Float32 = np.array([each or 0.0 for each in foreseen], np.float32).take(which)
    depends = np.array([each is None for each in foreseen], np.bool_).take(which)
    if depends.any():
        left = np.flatnonzero(depends)
        found = [shapes[index] for index in which[left].tolist()]
        added[left] = _placed(ask, columns, rows[left], found)
    return added


def _placed(
    ask: AscendAsk, columns: DeviceColumns, rows: Rows, shapes: Sequence[Inventory]
) -> list[float]:
    """Return what placements add; nodes with equal devices in equal use are placed on once."""
    is_by_name = any(each.use_ids or each.avoid_ids for each in ask.all_requests())
    uses = np.concatenate(
        [
            cells.take(rows, axis=0)
            for cells in (columns.slots_used, columns.memory_used, columns.cores_used)
        ],
        axis=1,
    )
    known: dict[tuple[int, bytes], float] = {}
    values: list[float] = []
    for index, (row, shape) in enumerate(zip(rows.tolist(), shapes, strict=True)):
        key = (row if is_by_name else id(shape), uses[index].tobytes())
        value = known.get(key)
        if value is None:
            view = columns.view(row)
            assert view is not None
            known[key] = value = _of_placement(
                ask, view if is_by_name else structs.replace(view, inventory=shape)
            )
        values.append(value)
    return values


@lru_cache(maxsize=INVENTORIES_MAX)
def _shape(inventory: Inventory) -> Inventory:
    """Return the inventory without names, one object for all that are equal."""
    return _same(nameless(inventory))


@lru_cache(maxsize=INVENTORIES_MAX)
def _same(shape: Inventory) -> Inventory:
    return shape


@lru_cache(maxsize=_ANSWERS_MAX)
def _foreseen(ask: AscendAsk, inventory: Inventory) -> float | None:
    """Return the addition where it is the same however the pod is placed, else None."""
    total = 0.0
    by_word: dict[str, list[int]] = {}
    for request in ask.all_requests():
        if request.chip.is_networked:
            by_word.setdefault(request.chip.word, []).append(request.count)
    for word, counts in by_word.items():
        networks = {
            inventory.devices[position].network for position in candidates_of(word, inventory)
        }
        if networks == {None} or not networks:
            continue
        if None in networks or (len(networks) > 1 and max(counts) > 1):
            return None
        total += len(counts)
    return _SCALE * total


@lru_cache(maxsize=_ANSWERS_MAX)
def _of_placement(ask: AscendAsk, view: DeviceView) -> float:
    answer = place(ask, view)
    return _SCALE * sum(_by_word(answer, view.inventory)) if isinstance(answer, Allocation) else 0.0


def _by_word(allocation: Allocation, inventory: Inventory) -> list[float]:
    """Return per kind of chip the sum over containers, nothing where a chip is in no network."""
    network_of = {device.id: device.network for device in inventory.devices}
    networks: dict[str, list[list[int | None]]] = {}
    for grants in allocation.containers:
        for word in dict.fromkeys(grant.type for grant in grants):
            own = [network_of[grant.device_id] for grant in grants if grant.type == word]
            if word.startswith(NETWORKED_PREFIX):
                networks.setdefault(word, []).append(own)
    return [
        sum(closeness(own) for own in found)
        for found in networks.values()
        if not any(None in own for own in found)
    ]
