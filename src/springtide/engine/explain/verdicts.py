"""What every node says to a class of pods, and every device on it.

Nodes with the same words stand together. Devices are listed through the protocol of their family: a
device's reason is the one with which a node that had nothing but this device would be counted.
"""

from collections.abc import Iterator, Mapping, Sequence

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from springtide.engine.placement.classes import PodClass
from springtide.engine.placement.family import ABSENT, ACCEPTED, Ask, Rows
from springtide.engine.placement.reasons import parse
from springtide.engine.placement.table import DEVICES, DEVICES_INEXACT, EXACT, FITS, Table
from springtide.engine.placement.tables import Tables
from springtide.model.columns import Bool, Int32, distinct
from springtide.model.device import Device, Use
from springtide.model.device_columns import DeviceColumns

Reasons = Mapping[int, str]
"""Reasons by a family's own number."""


class DeviceVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """One device of a row, its use, and the first thing that refuses it, empty if nothing does."""

    family: str
    device: Device
    use: Use
    reason: str


class Cells(msgspec.Struct, frozen=True, kw_only=True):
    """Devices of some rows, as cells of the family's columns: those under the mask."""

    columns: DeviceColumns
    rows: Rows
    codes: npt.NDArray[np.uint8]
    mask: Bool
    reasons: Reasons

    def of(self, cells: Int32) -> Int32:
        """Return what a column has in these cells."""
        found: Int32 = cells[self.rows][:, : self.mask.shape[1]][self.mask]
        return found

    def of_reason(self, reason: str) -> "Cells":
        """Return the cells that refuse for a reason; all, where nobody knows which do."""
        own: Bool = np.zeros(self.mask.shape, np.bool_)
        for code, each in self.reasons.items():
            if each == reason:
                own |= self.codes == code
        own &= self.mask
        return replace(self, mask=own) if own.any() else self


def settled(tables: Tables, pod_class: PodClass) -> Rows:
    """Return the rows that take the pod, each placed exactly where vectors cannot be sure."""
    rows = tables.candidates(pod_class)
    for row in _unsure(tables, pod_class, rows).tolist():
        tables.place(pod_class, row)
    return tables.candidates(pod_class)


def _unsure(tables: Tables, pod_class: PodClass, rows: Rows) -> Rows:
    if not len(rows):
        return rows
    is_sure = np.ones(len(rows), np.bool_)
    for ask in tables.asks_of(pod_class):
        columns = tables.ledger.devices[ask.family]
        is_sure &= tables.families[ask.family].evaluate(ask, columns, rows).is_exact
    unsure: Rows = rows[~is_sure]
    return unsure


def devices_on(tables: Tables, pod_class: PodClass, row: int) -> Iterator[DeviceVerdict]:
    """Yield the devices of a row that the pod was held against, in the order of registration."""
    table = tables.told(pod_class)
    code = int(table.code[row])
    if code != FITS and not _is_by_devices(table, row):
        return
    for index, ask in enumerate(pod_class.asks):
        is_asked = code == FITS or index == table.family[row]
        view = tables.ledger.view(row, ask.family)
        if not is_asked or view is None:
            continue
        codes = table.device_codes[row].tolist() if index == table.family[row] else []
        reasons = reasons_of(tables, ask, frozenset(codes), fits=code in {FITS, EXACT})
        for position, (device, use) in enumerate(
            zip(view.inventory.devices, view.uses, strict=True)
        ):
            own = codes[position] if position < len(codes) else ACCEPTED
            if own != ABSENT:
                yield DeviceVerdict(
                    family=ask.family, device=device, use=use, reason=reasons.get(own, "")
                )


def cells_of(tables: Tables, pod_class: PodClass, family: str, rows: Sequence[int]) -> Cells | None:
    """Return the devices of rows that refuse by this family, None where nobody knows any."""
    columns = tables.ledger.devices.get(family)
    ask = next((each for each in pod_class.asks if each.family == family), None)
    if columns is None or ask is None:
        return None
    at = np.array(rows, np.intp)
    codes = tables.told(pod_class).device_codes[at]
    codes = codes[:, : columns.width]
    present = np.arange(codes.shape[1]) < columns.count[at][:, None]
    reasons = reasons_of(tables, ask, frozenset(distinct(codes[present]).tolist()), fits=False)
    return Cells(columns=columns, rows=at, codes=codes, mask=present, reasons=reasons)


def _is_by_devices(table: Table, row: int) -> bool:
    """Return whether a row's devices have the word."""
    code = int(table.code[row])
    if code == EXACT:
        asks = table.pod_class.asks
        return bool(asks) and table.exact[row].rule == asks[int(table.family[row])].family
    return code in {DEVICES, DEVICES_INEXACT}


def reasons_of(tables: Tables, ask: Ask, codes: frozenset[int], *, fits: bool) -> Reasons:
    """Return the reason that each of these numbers stands for.

    Devices that accept have none where the row takes the pod, or where `place` alone knows why not.
    """
    family = tables.families[ask.family]
    found: dict[int, str] = {}
    for code in codes - {ABSENT}:
        if code == ACCEPTED and fits:
            continue
        told = family.refusal(ask, np.array([code], np.uint8))
        found[code] = next(iter(parse(told.text)), told.text)
    return found
