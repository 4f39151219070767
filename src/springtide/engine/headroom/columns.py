"""The room for a class whose placements change their own row only: all rows at once.

What a row takes is the least of what its resources, ports and devices take. Why it refuses the next
pod is what the same rules say of a copy of the columns in which these pods are placed.
"""

import copy
from typing import Final

import msgspec
import numpy as np

from springtide.engine.framework.verdicts import PASSES, chosen
from springtide.engine.headroom.result import Room
from springtide.engine.headroom.verdicts import (
    Refusals,
    refused_by_devices,
    refused_by_rules,
    refused_now,
)
from springtide.engine.headroom.walking import Walks
from springtide.engine.placement.classes import PodClass
from springtide.engine.placement.family import Filling, Rows
from springtide.engine.placement.tables import Tables
from springtide.model.columns import Bool, Int64
from springtide.model.ledger import Ledger

ROOM_MAX: Final = 100_000
"""More pods than any node takes; reached only where no rule counts pods."""


class _Devices(msgspec.Struct, frozen=True, kw_only=True):
    """What the devices of n rows take, family by family, and what is told of them otherwise."""

    counts: Int64
    fillings: tuple[Filling, ...]
    is_walked: Bool


def filled(pod_class: PodClass, tables: Tables, walks: Walks) -> Room:
    """Return the room for the class."""
    rows = tables.candidates(pod_class)
    counts = np.zeros(tables.ledger.count, np.int64)
    refusals = list(refused_now(pod_class, tables))
    if not len(rows):
        return Room(counts=counts, refusals=refusals)
    limits = np.minimum(_resource_room(pod_class, tables, rows), _port_room(pod_class, tables))
    devices = _device_room(pod_class, tables, rows)
    known = ~devices.is_walked
    counts[rows[known]] = np.minimum(limits, devices.counts)[known]
    refusals += walks.over(pod_class, rows[~known], limits[~known], counts)
    refusals += _by_rules(pod_class, tables, rows, counts)
    is_full = known & (devices.counts < limits)
    refusals += _by_devices(pod_class, tables, rows, devices, is_full)
    return Room(counts=counts, refusals=refusals, is_cut=bool((counts >= ROOM_MAX).any()))


def _resource_room(pod_class: PodClass, tables: Tables, rows: Rows) -> Int64:
    room = np.full(len(rows), ROOM_MAX, np.int64)
    resources, framework = tables.ledger.resources, tables.framework_of(pod_class)
    for name, quantity in pod_class.amounts:
        index = resources.known(name)
        if quantity > 0 and index is not None and framework.counts(name):
            free = resources.allocatable[index, rows] - resources.used[index, rows]
            np.minimum(room, free // quantity, out=room)
    return room


def _port_room(pod_class: PodClass, tables: Tables) -> int:
    """Return that a node has each port once."""
    has_say = tables.framework_of(pod_class).judges("NodePorts")
    return 1 if pod_class.ports and has_say else ROOM_MAX


def _device_room(pod_class: PodClass, tables: Tables, rows: Rows) -> _Devices:
    counts = np.full(len(rows), ROOM_MAX, np.int64)
    is_walked = np.zeros(len(rows), np.bool_)
    fillings = []
    for ask in pod_class.asks:
        columns = tables.ledger.devices[ask.family]
        filling = tables.families[ask.family].fill(ask, columns, rows)
        fillings.append(filling)
        np.minimum(counts, filling.counts, out=counts)
        is_walked |= ~filling.is_known
    return _Devices(counts=counts, fillings=tuple(fillings), is_walked=is_walked)


def _by_rules(pod_class: PodClass, tables: Tables, rows: Rows, counts: Int64) -> Refusals:
    """Yield what rules of the framework say once the pods are placed, where they refuse."""
    table = tables.table(pod_class)
    assert table.prepared is not None
    held = rows[counts[rows] > 0]
    ledger = _with_pods(tables.ledger, pod_class, held, counts[held])
    verdicts = tables.framework_of(pod_class).evaluate_usage(table.prepared, ledger, held)
    refused = verdicts.rule != PASSES
    yield from refused_by_rules(pod_class, tables, chosen(verdicts, refused), held[refused])


def _with_pods(ledger: Ledger, pod_class: PodClass, rows: Rows, counts: Int64) -> Ledger:
    """Return a copy to look at, with so many more pods of the class on each of these rows."""
    shown, resources = copy.copy(ledger), copy.copy(ledger.resources)
    resources.used = resources.used.copy()
    for name, quantity in pod_class.amounts:
        index = resources.known(name)
        if index is not None:
            resources.used[index, rows] += quantity * counts
    shown.resources = resources
    if pod_class.ports:
        taken = dict.fromkeys(pod_class.ports, 1)
        shown.ports = {**ledger.ports}
        for row in rows.tolist():
            shown.ports[row] = {**ledger.ports.get(row, {}), **taken}
    return shown


def _by_devices(
    pod_class: PodClass, tables: Tables, rows: Rows, devices: _Devices, is_full: Bool
) -> Refusals:
    """Yield what the first family says that takes no further pod."""
    left = is_full
    for ask, filling in zip(pod_class.asks, devices.fillings, strict=True):
        mine = left & (filling.counts == devices.counts)
        left = left & ~mine
        if mine.any():
            family, told = tables.families[ask.family], rows[mine]
            codes = family.evaluate(ask, filling.after, told).codes
            yield from refused_by_devices(ask, tables, codes, told)
    assert not left.any()
