"""Rows of a table that refuse alike, found without a step of Python per row."""

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from springtide.engine.placement.family import Rows
from springtide.engine.placement.table import (
    CLOSED,
    DEVICES,
    DEVICES_INEXACT,
    EXACT,
    FITS,
    UNREGISTERED,
    Table,
)


def equal_rows(table: Table, below: int) -> list[Rows]:
    """Part the rows that refuse into those with the same stored verdict, by their first rows."""
    word = table.code[:below].astype(np.uint16)
    word += table.lasting(below).astype(np.uint16) << np.uint16(8)
    found: list[Rows] = []
    for rows in _parted(np.arange(below), word) if below else ():
        code = int(table.code[rows[0]])
        if code in {EXACT, DEVICES_INEXACT, CLOSED}:
            # Exact refusals and inexact ones differ from row to row.
            found.extend(rows[:, None])
        elif code >= UNREGISTERED:
            found += _parted_by_devices(table, rows)
        elif code != FITS:
            found += _parted(rows, table.detail[rows])
    return sorted(found, key=lambda rows: int(rows[0]))


def _parted_by_devices(table: Table, rows: Rows) -> list[Rows]:
    groups = _parted(rows, table.family[rows])
    if table.code[rows[0]] != DEVICES:
        return groups
    for position in range(table.device_codes.shape[1]):
        codes = table.device_codes[:, position]
        groups = [part for group in groups for part in _parted(group, codes[group])]
    return groups


def _parted(rows: Rows, values: npt.NDArray[np.generic]) -> list[Rows]:
    """Part the rows by their values."""
    if (values == values[0]).all():
        return [rows]
    order = np.argsort(values, kind="stable")
    ordered, rows = values[order], rows[order]
    starts = (np.flatnonzero(ordered[1:] != ordered[:-1]) + 1).tolist()
    return [rows[start:end] for start, end in pairwise((0, *starts, len(rows)))]
