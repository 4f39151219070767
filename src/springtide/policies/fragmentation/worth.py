"""What the free devices of nodes are worth to the shapes, node by node, kept up with the ledger.

Of a node a shape can use what the devices that serve it have free, if they are enough for one pod and the
node has CPU and memory for one. Beyond that, devices are only worth as much as there is CPU and memory
for: where these last for two pods and a half, two and a half times what a pod takes is all that it
can use. Both count equally, what is free now and what CPU and memory leave of it, since nobody
knows which pods come next.

All amounts are whole numbers below 2^53, so that no sum depends on the order or number of rows.
"""

from typing import Final

import numpy as np

from springtide.engine.placement.family import Ask, Rows
from springtide.model.columns import DeviceColumns, Float64, Int32, Int64, grown
from springtide.model.ledger import Ledger
from springtide.policies.fragmentation.shapes import Shape
from springtide.policies.fragmentation.states import NOTHING
from springtide.policies.fragmentation.usefulness import Float32, Usefulness

HALVES: Final = 2
"""Losses are counted in halves of a device's thousandths, times the weights of the shapes."""


class Worth:
    """One family's devices of all nodes of a ledger, as shapes see them."""

    def __init__(self, useful: Usefulness, shapes: tuple[Shape, ...], ledger: Ledger) -> None:
        self._ledger = ledger
        self._position = 0
        self._codes: Int32 = np.zeros((len(ledger.born), 1), np.int32)
        self._kind: Int32 = np.zeros(len(ledger.born), np.int32)
        self.see_as(useful, shapes)

    def see_as(self, useful: Usefulness, shapes: tuple[Shape, ...]) -> None:
        """See all nodes as these shapes do from now on, to which devices are useful in this way."""
        self._useful = useful
        self._cpu: Float32 = np.array([shape.cpu_milli for shape in shapes], np.float32)
        self._memory: Float32 = np.array([shape.memory_mib for shape in shapes], np.float32)
        self._amounts: Float32 = useful.amounts.take(self._codes, axis=0).sum(axis=1)

    def follow(self, columns: DeviceColumns) -> None:
        """Learn of what has changed in the ledger."""
        ledger = self._ledger
        seen, self._position = self._position, ledger.changes.position
        if seen == self._position:
            return
        if len(self._codes) < len(ledger.born) or self._codes.shape[1] < columns.width:
            self._make_room(len(ledger.born), columns.width)
        rows = ledger.changes.since(seen).astype(np.intp)
        rows = rows[rows < ledger.count]
        for row in rows.tolist():
            self._codes[row] = self._codes_of(columns, row)
        useful = self._useful
        useful.learn()
        self._amounts[rows] = useful.amounts.take(self._codes[rows], axis=0).sum(axis=1)

    def _make_room(self, rows: int, width: int) -> None:
        self._codes = grown(grown(self._codes, rows), width, axis=1)
        self._kind = grown(self._kind, rows)
        self._amounts = grown(self._amounts, rows)

    def _codes_of(self, columns: DeviceColumns, row: int) -> list[int]:
        """Return the states of a row's devices, as many as cells."""
        inventory = columns.inventory_at(row)
        kinds = () if inventory is None else self._useful.states.kinds_in(inventory)
        self._kind[row] = kinds[0] if kinds else 0
        opaque = columns.opaque[row].tolist()
        uses = zip(
            kinds,
            columns.slots_used[row].tolist(),
            columns.memory_used[row].tolist(),
            columns.cores_used[row].tolist(),
            strict=False,
        )
        code = self._useful.states.code
        codes = [NOTHING if opaque[cell] else code(state) for cell, state in enumerate(uses)]
        return codes + [NOTHING] * (columns.width - len(codes))

    def amounts(self, rows: Rows, ask: Ask | None) -> Float32:
        """Return the amounts of these nodes before [0] and after [1] a pod takes the ask's devices.

        It takes those that it spoils least.
        """
        before = self._amounts.take(rows, axis=0)
        if ask is None:
            return np.stack((before, before))
        codes = self._codes.take(rows, axis=0)
        after = self._useful.states.after(codes, ask)
        useful = self._useful
        useful.learn()
        ranks = useful.ranks(codes, after)
        counts = useful.states.counts(ask).take(self._kind.take(rows))
        if counts.max(initial=0) > 1:
            change = _change_of_several(useful.amounts, codes, after, ranks, counts)
        else:
            cells = ranks.argmin(axis=1)
            cells += np.arange(0, codes.size, codes.shape[1])
            change = useful.amounts.take(after.take(cells), axis=0)
            change -= useful.amounts.take(codes.take(cells), axis=0)
        change += before
        return np.stack((before, change))

    def lost(self, amounts: Float32, rows: Rows, *, cpu: Float32, memory: Float32) -> Float64:
        """Return what the shapes cannot use of nodes' devices, weighted by how common they are.

        Amounts, and what the nodes have free of CPU and memory, are given before and after, or in any
        number of cases.
        """
        useful = self._useful
        width = useful.width
        offered = amounts[..., width:-1]
        room = cpu[..., None] / self._cpu
        np.minimum(room, memory[..., None] / self._memory, out=room)
        is_enough = room >= 1
        kinds = self._kind.take(rows)
        is_enough &= amounts[..., :width] >= useful.counts.take(kinds, axis=0)
        room *= useful.needs.take(kinds, axis=0)
        np.floor(room, out=room)
        np.minimum(room, offered, out=room)
        room += offered
        room *= is_enough
        free = amounts[..., -1].astype(np.float64)
        lost: Float64 = free * (HALVES * useful.weight) - room.astype(np.float64) @ useful.weights
        return lost


def _change_of_several(
    amounts: Float32, codes: Int32, after: Int32, ranks: Int64, counts: Int32
) -> Float32:
    """Return what nodes have more once so many of their devices, of the lowest ranks, have served."""
    order = ranks.argsort(axis=1, kind="stable")
    is_picked = np.zeros(codes.shape, np.bool_)
    np.put_along_axis(is_picked, order, np.arange(codes.shape[1]) < counts[:, None], axis=1)
    change: Float32 = amounts.take(np.where(is_picked, after, codes), axis=0).sum(axis=1)
    change -= amounts.take(codes, axis=0).sum(axis=1)
    return change


def free_of(ledger: Ledger, name: str, rows: Rows, *, less: int, unit: int) -> Float32:
    """Return what nodes have free of a resource before [0] and after [1] so much is taken.

    It is counted in whole units, so that single precision holds it exactly.
    """
    resources = ledger.resources
    index = resources.index(name)
    free = resources.allocatable[index].take(rows) - resources.used[index].take(rows)
    found = np.array((free, free - less))
    return (found // unit if unit > 1 else found).astype(np.float32)
