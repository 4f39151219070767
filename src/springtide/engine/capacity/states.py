"""The device states that new nodes pass through, and the ways between them.

A new node's devices start free, and every pod placed takes them from one state to another. States
are numbered from 0, the free one; a way, state and class of pod to state, is found by one exact
placement and remembered. Beside its record every state is a row of device columns, so that one
vector call says which of many states take a further pod at all. Templates with equal devices share
their states.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from springtide.engine.placement.classes import PodClass
from springtide.engine.placement.family import Rows
from springtide.engine.placement.tables import Tables
from springtide.model.columns import Bool, Interner
from springtide.model.device import DeviceView, Inventory, Share, empty_view, nameless
from springtide.model.device_columns import DeviceColumns
from springtide.model.refusal import Refusal

State = tuple[tuple[str, DeviceView], ...]
FREE: Final = 0
_NO_WAY: Final = -1
_FIRST_STATES: Final = 64

Taken = list[tuple[str, tuple[Share, ...]]]


class DeviceStates:
    """Every state that new nodes with these devices have been in so far."""

    def __init__(self, inventories: Sequence[tuple[str, Inventory]], tables: Tables) -> None:
        self._tables = tables
        fresh = tuple((family, empty_view(nameless(found))) for family, found in inventories)
        self._states: Interner[State] = Interner((fresh,))
        self._ways: dict[tuple[int, PodClass], int] = {}
        self._columns: dict[str, DeviceColumns] = {}
        for family, view in fresh:
            columns = self._columns[family] = DeviceColumns(family, _FIRST_STATES)
            columns.set_row(FREE, view.inventory)

    def views(self, state: int) -> tuple[DeviceView, ...]:
        """Return the devices in this state, one view a family."""
        return tuple(view for _, view in self._states.values[state])

    def takers(self, states: Rows, pod_class: PodClass) -> Bool:
        """Return which of these states may take one more pod; False is final."""
        takes = np.ones(len(states), np.bool_)
        for ask in pod_class.asks:
            columns = self._columns.get(ask.family)
            if columns is None:
                return np.zeros(len(states), np.bool_)
            takes &= self._tables.families[ask.family].evaluate(ask, columns, states).fits
        return takes

    def walk(self, state: int, pod_class: PodClass, limit: int) -> list[int]:
        """Return the states that placing up to `limit` pods passes through, from this one on."""
        states = [state]
        if not pod_class.asks:
            return states * (limit + 1)
        while len(states) <= limit:
            following = self._following(states[-1], pod_class)
            if following == _NO_WAY:
                break
            states.append(following)
        return states

    def _following(self, state: int, pod_class: PodClass) -> int:
        key = (state, pod_class)
        following = self._ways.get(key)
        if following is None:
            following = self._ways[key] = self._step(state, pod_class)
        return following

    def _step(self, state: int, pod_class: PodClass) -> int:
        views = dict(self._states.values[state])
        taken: Taken = []
        for ask in pod_class.asks:
            view = views.get(ask.family)
            answer = None if view is None else self._tables.place_on(ask, view)
            if view is None or answer is None or isinstance(answer, Refusal):
                return _NO_WAY
            shares = self._tables.families[ask.family].shares(answer, view.inventory)
            taken.append((ask.family, shares))
            views[ask.family] = view.plus(shares)
        return self._numbered(tuple(views.items()), state, taken)

    def _numbered(self, views: State, before: int, taken: Taken) -> int:
        known = self._states.known(views)
        if known is not None:
            return known
        state = self._states.code(views)
        for columns in self._columns.values():
            if state == len(columns.inventory):
                columns.grow(2 * state)
            columns.copy_row(before, state)
        for family, shares in taken:
            self._columns[family].take(state, shares)
        return state
