"""The policy itself: each node before and after, and each device of the node that was chosen."""

from collections.abc import Mapping
from typing import Final

import numpy as np

from springtide.engine.placement.classes import PodClass
from springtide.engine.placement.family import Ask, DeviceFamily, Rows
from springtide.engine.placement.policy import Ranks
from springtide.model.columns import Float32, Float64, Int64
from springtide.model.device import DeviceView
from springtide.model.ledger import Ledger
from springtide.policies.fragmentation.shapes import Shapes
from springtide.policies.fragmentation.states import States
from springtide.policies.fragmentation.usefulness import Usefulness
from springtide.policies.fragmentation.worth import PARTS, Worth, free_of, taken_by

NAME: Final = "fragmentation"
STEP_MILLI: Final = 80
"""Nodes whose losses differ by less are equal, and the first one is taken: that fills node by node. Finer,
pods that name models of GPUs are packed worse; coarser, pods that take several find fewer whole nodes.
Found on the public trace with other seeds than those that results are told of."""
STATES_MAX: Final = 16_384
CLASSES_MAX: Final = 4_096
RANKED_MAX: Final = 65_536


class Fragmentation:
    """Prefers nodes and devices whose free devices stay useful to the pods that come."""

    def __init__(self, families: Mapping[str, DeviceFamily]) -> None:
        self._families = families
        self._shapes = Shapes()
        self._states = {name: States(family) for name, family in families.items()}
        self._useful: dict[str, Usefulness] = {}
        self._worths: dict[str, Worth] = {}
        self._ledger: Ledger | None = None
        self._classes: dict[PodClass, tuple[dict[str, Ask], Int64]] = {}
        self._ranked: dict[tuple[Ask, tuple[int, ...]], Ranks] = {}
        self._seen_as = -1

    @property
    def version(self) -> int:
        """Return a number that changes when other shapes are common."""
        return self._shapes.version

    def see(self, pod_class: PodClass, count: int = 1) -> None:
        """Count pods that ask for a place or hold one; once a pod, before it is placed."""
        self._shapes.see(pod_class, count)

    def scores(self, pod_class: PodClass, ledger: Ledger, rows: Rows) -> Float32:
        """Return the scores of rows that take a pod of this class; the highest is preferred."""
        self._follow(ledger)
        asks, taken = self._read(pod_class)
        free = free_of(ledger, rows, taken)
        gain: Float64 = np.zeros(len(rows))
        for family, worth in self._worths.items():
            gain += worth.gained(worth.amounts(rows, asks.get(family)), rows, free)
        scores: Float32 = (gain // self._step).astype(np.float32)
        return scores

    def _read(self, pod_class: PodClass) -> tuple[dict[str, Ask], Int64]:
        """Return what pods of a class ask of each family, and of nodes."""
        known = self._classes.get(pod_class)
        if known is None:
            if len(self._classes) >= CLASSES_MAX:
                self._classes.clear()
            asks = {ask.family: ask for ask in pod_class.asks}
            known = self._classes[pod_class] = asks, taken_by(pod_class)
        return known

    @property
    def _step(self) -> int:
        """Return by how much losses differ that are told apart, as they are counted."""
        return max(PARTS * STEP_MILLI * self._shapes.weight, 1)

    def ranks(self, ask: Ask, view: DeviceView) -> Ranks:
        """Return in which order the devices of a node are tried: the least spoilt first."""
        self._forget()
        key = ask, self._states[ask.family].codes(view)
        known = self._ranked.get(key)
        if known is None:
            if len(self._ranked) >= RANKED_MAX:
                self._ranked.clear()
            codes = np.array(key[1], np.int32)
            ranks = self._useful_of(ask.family).ranks(codes, ask).tolist()
            order = {rank: place for place, rank in enumerate(sorted(set(ranks)))}
            known = self._ranked[key] = tuple([order[rank] for rank in ranks])
        return known

    def _follow(self, ledger: Ledger) -> None:
        """See all nodes of the ledger as they are now."""
        self._forget()
        if ledger is not self._ledger:
            self._worths.clear()
            self._ledger = ledger
        for family, columns in ledger.devices.items():
            worth = self._worths.get(family)
            if worth is None:
                useful = self._useful_of(family)
                worth = self._worths[family] = Worth(useful, self._shapes.picked, ledger)
            worth.follow(columns)

    def _useful_of(self, family: str) -> Usefulness:
        useful = self._useful.get(family)
        if useful is None:
            useful = Usefulness(self._states[family], self._shapes.picked)
            self._useful[family] = useful
        return useful

    def _forget(self) -> None:
        """Drop what is out of date, and all states of a family if there are too many."""
        for name, states in self._states.items():
            if len(states) > STATES_MAX and len(states) > 2 * self._devices(name):
                self._states[name] = States(self._families[name])
                self._useful.pop(name, None)
                self._ranked.clear()
                self._worths.pop(name, None)
        if self._seen_as != self._shapes.version:
            self._seen_as = self._shapes.version
            self._useful.clear()
            self._ranked.clear()
            for name, worth in self._worths.items():
                worth.see_as(self._useful_of(name), self._shapes.picked)

    def _devices(self, family: str) -> int:
        """Return how many devices there are, each of which may be in a state of its own."""
        columns = None if self._ledger is None else self._ledger.devices.get(family)
        return 0 if columns is None else int(columns.count.sum())
