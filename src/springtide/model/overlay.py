"""Hypothetical changes to a ledger: nested `fork`, `revert` and `commit` in O(changes).

The overlay keeps a journal of what it did. `fork` pushes a mark, `revert` undoes back to the last
mark and drops it, `commit` drops the mark and keeps the changes for the mark below. Undoing writes
the same change log as doing, so caches follow. While an overlay is in use, all changes to its
ledger go through it.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import assert_never

import msgspec

from springtide.model.device import Inventory
from springtide.model.ledger import Holding, Ledger
from springtide.model.node import Node


class _Added(msgspec.Struct, frozen=True):
    """A row was added."""


class _Held(msgspec.Struct, frozen=True):
    """This uid was given a holding."""

    uid: str


class _Released(msgspec.Struct, frozen=True):
    """This holding was taken away."""

    holding: Holding


class _Renewed(msgspec.Struct, frozen=True, kw_only=True):
    """A row got another node, or lost it; this is what it had, no node where it was vacant."""

    row: int
    node: Node | None
    name: str
    inventories: Mapping[str, Inventory]
    closed: tuple[tuple[str, Mapping[str, str]], ...]


_Entry = _Added | _Held | _Released | _Renewed


class Overlay:
    """One stack of hypothetical changes on one ledger."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self._journal: list[_Entry] = []
        self._marks: list[int] = []

    @property
    def depth(self) -> int:
        """Return how many forks are open."""
        return len(self._marks)

    def fork(self) -> None:
        """Open a level that can be reverted or committed."""
        self._marks.append(len(self._journal))

    def revert(self) -> None:
        """Undo everything since the last fork."""
        mark = self._marks.pop()
        while len(self._journal) > mark:
            self._undo(self._journal.pop())

    def commit(self) -> None:
        """Keep everything since the last fork; it now belongs to the fork below, if any."""
        self._marks.pop()
        if not self._marks:
            self._journal.clear()

    @contextmanager
    def trial(self) -> Iterator[None]:
        """Open a level that is reverted at the end, whatever happens inside."""
        self.fork()
        depth = self.depth
        try:
            yield
        finally:
            assert self.depth == depth, "an inner fork was left open"
            self.revert()

    def add_node(
        self, node: Node, inventories: Mapping[str, Inventory] | None = None, *, name: str = ""
    ) -> int:
        """Add a node, as `Ledger.add_node`."""
        row = self.ledger.add_node(node, inventories, name=name)
        self._record(_Added())
        return row

    def renew_node(
        self,
        row: int,
        node: Node,
        inventories: Mapping[str, Inventory] | None = None,
        *,
        name: str = "",
    ) -> None:
        """Let a row be this node, as `Ledger.renew_node`."""
        before = self._seated(row)
        self.ledger.renew_node(row, node, inventories, name=name)
        self._record(before)

    def vacate(self, row: int) -> None:
        """Take a row's node away, as `Ledger.vacate`."""
        before = self._seated(row)
        self.ledger.vacate(row)
        self._record(before)

    def hold(self, holding: Holding) -> None:
        """Give a pod a holding, as `Ledger.hold`."""
        self.ledger.hold(holding)
        self._record(_Held(holding.uid))

    def release(self, uid: str) -> Holding:
        """Take a pod's holding away, as `Ledger.release`."""
        holding = self.ledger.release(uid)
        self._record(_Released(holding))
        return holding

    def _seated(self, row: int) -> _Renewed:
        ledger = self.ledger
        return _Renewed(
            row=row,
            node=None if row in ledger.vacant else ledger.nodes[row],
            name=ledger.given_name(row),
            inventories=ledger.inventories_at(row),
            closed=tuple(
                (name, dict(columns.closed[row]))
                for name, columns in ledger.devices.items()
                if row in columns.closed
            ),
        )

    def _reseat(self, before: _Renewed) -> None:
        ledger, row = self.ledger, before.row
        if before.node is None:
            ledger.vacate(row)
            return
        ledger.renew_node(row, before.node, before.inventories, name=before.name)
        for family, whys in before.closed:
            for uid, why in whys.items():
                ledger.close(row, family, uid, why)

    def _record(self, entry: _Entry) -> None:
        if self._marks:
            self._journal.append(entry)

    def _undo(self, entry: _Entry) -> None:
        match entry:
            case _Added():
                self.ledger.drop_last_node()
            case _Held(uid=uid):
                self.ledger.release(uid)
            case _Released(holding=holding):
                self.ledger.hold(holding)
            case _Renewed():
                self._reseat(entry)
            case _:
                assert_never(entry)
