"""Rows with equal verdicts, found without a step of Python per row and device."""

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from springtide.engine.framework.verdicts import Verdicts
from springtide.engine.placement.classes import PodClass
from springtide.engine.placement.family import Ask, Rows
from springtide.engine.placement.table import (
    CLOSED,
    DEVICES,
    DEVICES_INEXACT,
    EXACT,
    FITS,
    UNREGISTERED,
    Table,
)
from springtide.engine.placement.tables import Tables
from springtide.model.refusal import Refusal

Refusals = Iterator[tuple[Refusal, Rows]]


def refused_now(pod_class: PodClass, tables: Tables) -> Refusals:
    """Yield why rows refuse the class as they are, with the rows."""
    table = tables.told(pod_class)
    code = table.code[: tables.ledger.count]

    def refusal(row: int) -> Refusal:
        return tables.refusal(pod_class, row)

    own = np.flatnonzero(np.isin(code, (EXACT, DEVICES_INEXACT, CLOSED)))
    yield from ((refusal(row), np.array([row], np.intp)) for row in own.tolist())
    by_devices = np.flatnonzero(code == DEVICES)
    yield from _alike(by_devices, _devices_key(table, by_devices), refusal)
    others = np.flatnonzero((code != FITS) & (code <= UNREGISTERED))
    yield from _alike(others, _rules_key(table, others), refusal)


def refused_by_rules(
    pod_class: PodClass, tables: Tables, verdicts: Verdicts, rows: Rows
) -> Refusals:
    """Yield the refusals that the verdicts over these rows stand for."""
    prepared = tables.table(pod_class).prepared
    assert prepared is not None
    framework = tables.framework_of(pod_class)
    key = _joined(verdicts.rule, verdicts.detail, verdicts.unresolvable)
    for first, group in _groups(key):
        refusal = framework.refusal(
            prepared,
            int(verdicts.rule[first]),
            int(verdicts.detail[first]),
            bool(verdicts.unresolvable[first]),
        )
        yield refusal, rows[group]


def refused_by_devices(
    ask: Ask, tables: Tables, codes: npt.NDArray[np.uint8], rows: Rows
) -> Refusals:
    """Yield the refusals that a family's codes over these rows stand for."""
    ordered = np.sort(codes, axis=1)
    family = tables.families[ask.family]
    yield from (
        (family.refusal(ask, ordered[first]), rows[group]) for first, group in _groups(ordered)
    )


def _alike(rows: Rows, key: npt.NDArray[np.uint8], refusal: Callable[[int], Refusal]) -> Refusals:
    for first, group in _groups(key):
        yield refusal(int(rows[first])), rows[group]


def _devices_key(table: Table, rows: Rows) -> npt.NDArray[np.uint8]:
    # A refusal counts its devices, so their order does not matter.
    codes = np.sort(table.device_codes[rows], axis=1)
    return np.column_stack([table.family[rows], codes])


def _rules_key(table: Table, rows: Rows) -> npt.NDArray[np.uint8]:
    key = _joined(table.code[rows], table.detail[rows], table.unresolvable[rows])
    return np.column_stack([key, table.family[rows]])


def _joined(
    code: npt.NDArray[np.uint8], detail: npt.NDArray[np.uint64], unresolvable: npt.NDArray[np.bool_]
) -> npt.NDArray[np.uint8]:
    octets = np.ascontiguousarray(detail).view(np.uint8).reshape(len(detail), 8)
    return np.column_stack([code, unresolvable.view(np.uint8), octets])


def _groups(key: npt.NDArray[np.uint8]) -> Iterator[tuple[int, Rows]]:
    """Yield the rows of the key that are equal, each group with its first one."""
    if not len(key):
        return
    whole = np.ascontiguousarray(key)
    words = whole.view(f"V{whole.shape[1]}").ravel().tolist()
    numbers: dict[bytes, int] = {}
    number_of = np.array([numbers.setdefault(word, len(numbers)) for word in words], np.intp)
    order = np.argsort(number_of, kind="stable")
    ends = np.cumsum(np.bincount(number_of, minlength=len(numbers))).tolist()
    for start, end in zip([0, *ends], ends, strict=False):
        group = order[start:end]
        yield int(group[0]), group
