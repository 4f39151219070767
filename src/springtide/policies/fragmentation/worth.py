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
from springtide.model.columns import DeviceColumns, Float64, Int32, grown
from springtide.model.ledger import Ledger
from springtide.policies.fragmentation.shapes import Shape
from springtide.policies.fragmentation.states import NOTHING, States
from springtide.policies.fragmentation.usefulness import Float32, Usefulness

HALVES: Final = 2
"""Losses are counted in halves of a device's thousandths, times the weights of the shapes."""


class Worth:
    """One family's devices of all nodes of a ledger, as shapes see them."""

    def __init__(self, states: States, ledger: Ledger) -> None:
        self.states = states
        self._ledger = ledger
        self._position = 0
        self._codes: Int32 = np.zeros((len(ledger.born), 1), np.int32)
        self._kind: Int32 = np.zeros(len(ledger.born), np.int32)

    def see_as(self, shapes: tuple[Shape, ...]) -> None:
        """See all nodes as these shapes do from now on."""
        self._useful = Usefulness(self.states, shapes)
        self._cpu: Float64 = np.array([shape.cpu_milli for shape in shapes], np.float64)
        self._memory: Float64 = np.array([shape.memory for shape in shapes], np.float64)
        self._amounts: Float32 = self._useful.amounts.take(self._codes, axis=0).sum(axis=1)

    @property
    def useful(self) -> Usefulness:
        """Return what single devices are good for, those that came up last too."""
        self._useful.learn()
        return self._useful

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
        useful = self.useful
        self._amounts[rows] = useful.amounts.take(self._codes[rows], axis=0).sum(axis=1)

    def _make_room(self, rows: int, width: int) -> None:
        self._codes = grown(grown(self._codes, rows), width, axis=1)
        self._kind = grown(self._kind, rows)
        self._amounts = grown(self._amounts, rows)

    def _codes_of(self, columns: DeviceColumns, row: int) -> list[int]:
        """Return the states of a row's devices, as many as cells."""
        inventory = columns.inventory_at(row)
        kinds = () if inventory is None else self.states.kinds_in(inventory)
        self._kind[row] = kinds[0] if kinds else 0
        opaque = columns.opaque[row].tolist()
        uses = zip(
            kinds,
            columns.slots_used[row].tolist(),
            columns.memory_used[row].tolist(),
            columns.cores_used[row].tolist(),
            strict=False,
        )
        code = self.states.code
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
        after = self.states.after(codes, ask)
        useful = self.useful
        ranks = useful.ranks(codes, after)
        count = self.states.count_of(ask)
        picked = ranks.argsort(axis=1, kind="stable")[:, :count] if count > 1 else None
        if picked is None:
            cells = ranks.argmin(axis=1)
            cells += np.arange(0, codes.size, codes.shape[1])
            change = useful.amounts.take(after.take(cells), axis=0)
            change -= useful.amounts.take(codes.take(cells), axis=0)
        else:
            change = useful.amounts[np.take_along_axis(after, picked, axis=1)].sum(axis=1)
            change -= useful.amounts[np.take_along_axis(codes, picked, axis=1)].sum(axis=1)
        change += before
        return np.stack((before, change))

    def lost(self, amounts: Float32, rows: Rows, *, cpu: Float64, memory: Float64) -> Float64:
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
        is_enough &= amounts[..., :width] >= useful.counts
        room *= useful.needs.take(self._kind.take(rows), axis=0)
        np.floor(room, out=room)
        np.minimum(room, offered, out=room)
        room += offered
        room *= is_enough
        lost: Float64 = HALVES * useful.weight * amounts[..., -1] - room @ useful.weights
        return lost


def free_of(ledger: Ledger, name: str, rows: Rows, *, less: int) -> Float64:
    """Return what nodes have free of a resource before [0] and after [1] so much is taken."""
    resources = ledger.resources
    index = resources.index(name)
    free = resources.allocatable[index].take(rows) - resources.used[index].take(rows)
    found: Float64 = np.array((free, free - less), np.float64)
    return found
