"""What the free devices of nodes are worth to the shapes, node by node, kept up with the ledger.

Of a node a shape can use what the devices that serve it have free, if they are enough for one pod and the
node has CPU for one. Where CPU ends before the devices do, a small part of what it leaves unusable
counts as lost: where it lasts for two pods and a half, two and a half times what a pod takes is all that
it reaches. The part is small since nobody knows which pods come next: where pods come and go, nodes that
are kept for what may not come stand idle. Memory plays no part, for the same reason.

All amounts are whole numbers below 2^53, so that no sum depends on the order or number of rows.
"""

from typing import Final

import numpy as np

from springtide.base.names import CPU
from springtide.engine.placement.classes import PodClass
from springtide.engine.placement.family import Ask, Rows
from springtide.model.columns import Float64, Int32, Int64, grown
from springtide.model.device_columns import DeviceColumns
from springtide.model.ledger import Ledger
from springtide.policies.fragmentation.shapes import Shape
from springtide.policies.fragmentation.states import NOTHING
from springtide.policies.fragmentation.usefulness import Float32, Usefulness

CPU_AT: Final = 1
"""Where CPU is among the resources of a ledger, always."""
PARTS: Final = 16
"""Losses are counted in such parts of a device's thousandths, times the weights of the shapes. One of them
is for how far CPU lasts: without it, pods that stay are packed worse; with four, a cluster that pods leave
refuses several times as much of them."""


class Worth:
    """One family's devices of all nodes of a ledger, as shapes see them."""

    def __init__(self, useful: Usefulness, shapes: tuple[Shape, ...], ledger: Ledger) -> None:
        self._ledger = ledger
        self._position = 0
        self._codes: Int32 = np.zeros((len(ledger.born), 1), np.int32)
        self._mix: Int32 = np.zeros(len(ledger.born), np.int32)
        self.see_as(useful, shapes)

    def see_as(self, useful: Usefulness, shapes: tuple[Shape, ...]) -> None:
        """See all nodes as these shapes do from now on, to which devices are useful in this way."""
        self._useful = useful
        self._cpu: Float32 = np.array([each.cpu_milli for each in shapes], np.float32)
        whole = np.array([-PARTS * useful.weight], np.float64)
        self._weights = np.concatenate([useful.weights, (PARTS - 1) * useful.weights, whole])
        self._amounts: Float32 = useful.amounts.take(self._codes, axis=0).sum(axis=1)

    def follow(self, columns: DeviceColumns) -> None:
        """Learn of what has changed in the ledger."""
        ledger = self._ledger
        seen, self._position = self._position, ledger.changes.position
        if seen == self._position:
            return
        if len(self._codes) < len(ledger.born) or self._codes.shape[1] < columns.width:
            self._make_room(len(ledger.born), columns.width)
        rows = ledger.changes.since(seen)
        if rows[-1] >= ledger.count:
            rows = rows[rows < ledger.count]
        if not len(rows):
            return
        codes = np.array([self._codes_of(columns, row) for row in rows.tolist()], np.int32)
        self._codes[rows] = codes
        useful = self._useful
        useful.learn()
        self._amounts[rows] = useful.amounts.take(codes, axis=0).sum(axis=1)

    def _make_room(self, rows: int, width: int) -> None:
        self._codes = grown(grown(self._codes, rows), width, axis=1)
        self._mix = grown(self._mix, rows)
        self._amounts = grown(self._amounts, rows)

    def _codes_of(self, columns: DeviceColumns, row: int) -> list[int]:
        """Return the states of a row's devices, as many as cells."""
        states, inventory = self._useful.states, columns.inventory_at(row)
        kinds, self._mix[row] = ((), 0) if inventory is None else states.kinds_in(inventory)
        memory_mib, cores, slots, opaque = columns.used[:, row].tolist()
        code = states.code
        codes = [
            NOTHING if opaque[cell] else code((kind, slots[cell], memory_mib[cell], cores[cell]))
            for cell, kind in enumerate(kinds)
        ]
        return codes + [NOTHING] * (columns.width - len(codes))

    def amounts(self, rows: Rows, ask: Ask | None) -> Float32:
        """Return the amounts of these nodes before [0] and after [1] a pod takes the ask's devices.

        It takes those that it spoils least.
        """
        found: Float32 = self._amounts.take((rows, rows), axis=0)
        if ask is None:
            return found
        useful, codes, after = self._useful, self._codes.take(rows, axis=0), found[1]
        ranks = useful.ranks(codes, ask)
        if useful.states.is_for_one(ask):
            cells = ranks.argmin(axis=1)
            cells += np.arange(0, codes.size, codes.shape[1])
            old = codes.take(cells)
            new = useful.states.after(old, ask)
            useful.learn()
            after -= useful.amounts.take(old, axis=0)
            after += useful.amounts.take(new, axis=0)
        else:
            self._take_several(after, rows, ask, codes=codes, ranks=ranks)
        return found

    def _take_several(
        self, amounts: Float32, rows: Rows, ask: Ask, *, codes: Int32, ranks: Int64
    ) -> None:
        """Change the amounts of nodes as if devices of the lowest ranks had served."""
        useful = self._useful
        after = useful.states.after(codes, ask)
        useful.learn()
        counts = useful.states.counts(ask).take(self._mix.take(rows))
        order = ranks.argsort(axis=1, kind="stable")
        is_picked = np.zeros(codes.shape, np.bool_)
        np.put_along_axis(is_picked, order, np.arange(codes.shape[1]) < counts[:, None], axis=1)
        amounts += useful.amounts.take(np.where(is_picked, after, codes), axis=0).sum(axis=1)
        amounts -= useful.amounts.take(codes, axis=0).sum(axis=1)

    def gained(self, amounts: Float32, rows: Rows, free: Float32) -> Float64:
        """Return by how much less of nodes is lost to the shapes after than before, weighted.

        Amounts, which are used up, and the CPU that nodes have free [2, nodes], are given before and
        after a placement.
        """
        useful = self._useful
        counts, needs = useful.bounds(self._mix, rows)
        lasting, usable = amounts[..., : useful.width], amounts[..., useful.width : -1]
        room: Float32 = free[..., None] / self._cpu
        is_enough = room >= 1
        is_enough &= lasting >= counts
        room *= needs
        np.floor(room, out=room)
        usable *= is_enough
        np.minimum(room, usable, out=lasting)
        gained: Float64 = np.dot(amounts[1] - amounts[0], self._weights)
        return gained


def free_of(ledger: Ledger, rows: Rows, taken: Int64) -> Float32:
    """Return the CPU [2, nodes] of nodes that is free before and after so much is taken.

    It is in thousandths of a core, so that single precision holds it exactly.
    """
    resources = ledger.resources
    free = resources.allocatable[CPU_AT].take(rows)
    free -= resources.used[CPU_AT].take(rows)
    cases: Float32 = (free - taken).astype(np.float32)
    np.maximum(cases, 0, out=cases)
    return cases


def taken_by(pod_class: PodClass) -> Int64:
    """Return what `free_of` takes off: nothing before, and the CPU that a pod asks for after."""
    return np.array([[0], [dict(pod_class.amounts).get(CPU, 0)]], np.int64)
