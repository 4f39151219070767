"""Which of the nodes in a call a pod gets: devices alone decide, as kube-scheduler has applied its filters."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import repeat
from operator import itemgetter
from typing import Final

import msgspec
import numpy as np

from springtide.engine.framework.framework import Framework, FrameworkConfig
from springtide.engine.placement.choice import best_among
from springtide.engine.placement.classes import PodClass
from springtide.engine.placement.family import DeviceFamily, Rows
from springtide.engine.placement.placing import Placement
from springtide.engine.placement.policy import PolicyTable
from springtide.engine.placement.reasons import NODE_UNREGISTERED
from springtide.engine.placement.tables import Tables
from springtide.model.columns import Int64
from springtide.model.ledger import Ledger

ANSWERS_MAX: Final = 4_096
"""Nodes that run for long are seldom used alike, so that few questions are asked twice."""
_ROW_BYTES: Final = np.dtype(np.intp).itemsize


class Fit(msgspec.Struct, frozen=True, kw_only=True):
    """Which rows of a call take a pod, with their scores; the highest is preferred."""

    rows: Rows
    scores: tuple[float, ...]


class Choosing:
    """The tables of all classes, and where the names of calls are in them."""

    def __init__(
        self,
        ledger: Ledger,
        families: Mapping[str, DeviceFamily],
        policies: PolicyTable | None = None,
    ) -> None:
        self.ledger = ledger
        self._policies = policies
        rules = Framework(FrameworkConfig(filters=(), pre_filters=frozenset()))
        self.tables = Tables(ledger, rules, families, policies=policies, answers_max=ANSWERS_MAX)
        self._layout = -1
        self._order: Int64 = np.zeros(0, np.int64)
        self._codes: dict[str, bytes] = {}
        self._names: Sequence[str] = ()
        self._rows: Rows = np.zeros(0, np.intp)

    def consider(self, pod_class: PodClass) -> None:
        """Let policies that learn from what is asked know of a pod."""
        if self._policies is not None:
            self._policies.see(pod_class)

    def best(self, pod_class: PodClass, names: Sequence[str]) -> Placement | None:
        """Return the placement on the best node of these, the smallest name among equal ones."""
        self.consider(pod_class)
        rows = self.rows_of(names)
        return best_among(pod_class, self.tables, rows, order=self._order)

    def fitting(
        self, pod_class: PodClass, names: Sequence[str], best: int, *, most: int
    ) -> tuple[int, Fit]:
        """Return how many of these nodes take the pod, and the best one's row with its score.

        Up to so many nodes, each of them is asked exactly and told, the best one last. Of more, some
        may be counted that would not take the pod after all.
        """
        rows = self.rows_of(names)
        table = self.tables.table(pod_class)
        fits = table.rank.take(rows) > -np.inf
        count = int(np.count_nonzero(fits))
        if count > most:
            return count, Fit(rows=np.array([best]), scores=(float(table.rank[best]),))
        taking = [
            row
            for row in rows[fits].tolist()
            if isinstance(self.tables.place(pod_class, row), Placement)
        ]
        rows = np.array(taking, np.intp)
        rank = table.rank.take(rows)
        order = np.lexsort((-self._order.take(rows), rank))
        return len(rows), Fit(rows=rows[order], scores=tuple(rank[order].tolist()))

    def refusals(self, pod_class: PodClass, names: Sequence[str]) -> dict[str, str]:
        """Return why each of these nodes, none of which takes the pod, refuses it."""
        count = self.ledger.count
        which = np.zeros(count + 1, np.intp)
        texts = [NODE_UNREGISTERED]
        for refusal, rows in self.tables.refusals(pod_class, below=count).items():
            which[rows] = len(texts)
            texts.append(refusal.text)
        told = map(texts.__getitem__, which[self.places_of(names)].tolist())
        return dict(zip(names, told, strict=True))

    def rows_of(self, names: Sequence[str]) -> Rows:
        """Return the rows of those of these names that are known, in the order of the call."""
        if not self._has_moved() and names == self._names:
            return self._rows
        self._names, self._rows = names, self._found(names)
        return self._rows

    def places_of(self, names: Sequence[str]) -> Rows:
        """Return the row of each name; one that is not known stands behind the last row."""
        self._has_moved()
        unknown = _code(self.ledger.count)
        return _rows(map(self._codes.get, names, repeat(unknown)))

    def _has_moved(self) -> bool:
        """Learn who has which row, and return whether that has changed."""
        layout = self.ledger.named
        if layout == self._layout:
            return False
        self._layout = layout
        self._order = self._ordered()
        self._codes = {name: _code(row) for name, row in self.ledger.rows.items()}
        return True

    def _found(self, names: Sequence[str]) -> Rows:
        """Return the rows of the names that are known."""
        if len(names) > 1:
            with suppress(KeyError):
                return _rows(itemgetter(*names)(self._codes))
        return _rows(map(self._codes.get, names, repeat(b"")))

    def _ordered(self) -> Int64:
        """Return each row's place in the order of names."""
        order = np.empty(self.ledger.count, np.int64)
        names = self.ledger.names
        by_name = sorted(range(self.ledger.count), key=names.__getitem__)
        order[by_name] = np.arange(self.ledger.count)
        return order


def _code(row: int) -> bytes:
    """Return a row as it is in memory: joining these is faster than making an array of numbers."""
    return row.to_bytes(_ROW_BYTES, sys.byteorder)


def _rows(codes: Iterable[bytes]) -> Rows:
    return np.frombuffer(b"".join(codes), np.intp)
