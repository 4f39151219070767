"""What the free devices of nodes are worth to the shapes, node by node, kept up with the ledger.

Of a node a shape can use what the devices that serve it have free, if they are enough for one pod and the
node has CPU and memory for one. Beyond that, devices are only worth as much as there is CPU and memory
for: where these last for two pods and a half, two and a half times what a pod takes is all that it
can use. Both count equally, what is free now and what CPU and memory leave of it, since nobody
knows which pods come next.

All amounts are whole numbers below 2^53, so that no sum depends on the order or number of rows.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np

from springtide.base.names import CPU, MEMORY
from springtide.engine.placement.family import Ask, Rows
from springtide.model.columns import DeviceColumns, Float64, Int32, Int64, grown
from springtide.model.ledger import Ledger
from springtide.policies.fragmentation.shapes import Shape
from springtide.policies.fragmentation.states import NOTHING
from springtide.policies.fragmentation.usefulness import Float32, Usefulness

CPU_AND_MEMORY: Final = slice(1, 3)
"""Where these are among the resources of a ledger, always."""
MIB_BITS: Final = 20
HALVES: Final = 2
"""Losses are counted in halves of a device's thousandths, times the weights of the shapes."""


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
        limits = [[each.cpu_milli for each in shapes], [each.memory_mib for each in shapes]]
        self._limits: Float32 = np.array(limits, np.float32)[:, None, None]
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
        inventory = columns.inventory_at(row)
        kinds = () if inventory is None else self._useful.states.kinds_in(inventory)
        self._mix[row] = self._useful.states.mix_of(kinds)
        memory_mib, cores, slots, opaque = columns.used[:, row].tolist()
        code = self._useful.states.code
        codes = [
            NOTHING if opaque[cell] else code((kind, slots[cell], memory_mib[cell], cores[cell]))
            for cell, kind in enumerate(kinds)
        ]
        return codes + [NOTHING] * (columns.width - len(codes))

    def amounts(self, rows: Rows, ask: Ask | None) -> Float32:
        """Return the amounts of these nodes before [0] and after [1] a pod takes the ask's devices.

        It takes those that it spoils least.
        """
        found: Float32 = np.empty((2, len(rows), self._amounts.shape[1]), np.float32)
        before, after = found
        self._amounts.take(rows, axis=0, out=before, mode="clip")
        after[:] = before
        if ask is None:
            return found
        useful, codes = self._useful, self._codes.take(rows, axis=0)
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

    def lost(self, amounts: Float32, rows: Rows, free: Float32) -> Float64:
        """Return what the shapes cannot use of nodes' devices, weighted by how common they are.

        Amounts, and what nodes have free of CPU and memory (`free` [2, cases, nodes]), are given in any
        number of cases, such as before and after a placement.
        """
        useful = self._useful
        counts, needs = useful.bounds(self._mix.take(rows))
        offered = amounts[..., useful.width : -1]
        cpu, memory = free[..., None] / self._limits
        room = np.minimum(cpu, memory, out=cpu)
        is_enough = room >= 1
        is_enough &= amounts[..., : useful.width] >= counts
        room *= needs
        np.floor(room, out=room)
        np.minimum(room, offered, out=room)
        room += offered
        room *= is_enough
        left = amounts[..., -1].astype(np.float64)
        left *= HALVES * useful.weight
        left -= room.astype(np.float64) @ useful.weights
        return left


def free_of(ledger: Ledger, rows: Rows, taken: Int64) -> Float32:
    """Return the CPU and memory [2, 2, nodes] of nodes that is free before and after so much is taken.

    It is in thousandths of a core and whole MiB, so that single precision holds it exactly.
    """
    resources = ledger.resources
    free = resources.allocatable[CPU_AND_MEMORY].take(rows, axis=1)
    free -= resources.used[CPU_AND_MEMORY].take(rows, axis=1)
    cases = free[:, None] - taken
    cases[1] >>= MIB_BITS
    return cases.astype(np.float32)


def taken_by(amounts: Mapping[str, int]) -> Int64:
    """Return what `free_of` takes off: nothing before, and what a pod asks for after."""
    asked = [[[0], [amounts.get(CPU, 0)]], [[0], [amounts.get(MEMORY, 0)]]]
    return np.array(asked, np.int64)
