"""Why rows of a class's table refuse, as refusals with their reasons.

What a table stores is turned into words here. Where a family's vector verdict is an upper bound, the exact
placement is asked, and what it says is written back.
"""

from springtide.engine.placement.alike import equal_rows
from springtide.engine.placement.exact import ExactFit
from springtide.engine.placement.family import Ask, Rows
from springtide.engine.placement.grounds import Grounds
from springtide.engine.placement.table import (
    CLOSED,
    DEVICES,
    EXACT,
    FITS,
    SENSELESS,
    UNREGISTERED,
    Table,
)
from springtide.engine.placement.unregistered import unregistered
from springtide.model.device_columns import DeviceColumns
from springtide.model.refusal import Refusal


class Refusals:
    """Words what tables say that are up to date and have all codes of devices."""

    def __init__(self, grounds: Grounds, exact: ExactFit) -> None:
        self._grounds = grounds
        self._exact = exact

    def of(self, table: Table, row: int) -> Refusal:
        """Return why this row refuses; the row must refuse."""
        code = int(table.code[row])
        assert code != FITS
        ask = table.asks[int(table.family[row])] if table.asks else None
        match code:
            case _ if code == EXACT:
                return table.exact[row]
            case _ if code == SENSELESS:
                assert table.pod_class.refusal is not None
                return table.pod_class.refusal
            case _ if ask is not None and code >= UNREGISTERED:
                return self._by_devices(table, ask, row)
            case _:
                assert table.prepared is not None
                return self._grounds.framework_of(table.pod_class).refusal(
                    table.prepared, code, int(table.detail[row]), bool(table.unresolvable[row])
                )

    def grouped(self, table: Table, *, below: int) -> dict[Refusal, list[Rows]]:
        """Return the distinct refusals of the rows below one, each with groups of its rows."""
        found: dict[Refusal, list[Rows]] = {}
        for group in equal_rows(table, below):
            found.setdefault(self.of(table, int(group[0])), []).append(group)
        return found

    def _by_devices(self, table: Table, ask: Ask, row: int) -> Refusal:
        code = int(table.code[row])
        columns = self._grounds.ledger.devices.get(ask.family)
        if code == UNREGISTERED or columns is None:
            return unregistered(ask.family)
        if code == CLOSED:
            return _closed(columns, row)
        if code == DEVICES:
            width = columns.width
            family = self._grounds.families[ask.family]
            return family.refusal(ask, table.device_codes[row, :width])
        answer = self._exact.on_row(ask, row)
        assert isinstance(answer, Refusal), "a family's vector verdict refuses what it can place"
        table.refuse(row, answer)
        return answer


def _closed(columns: DeviceColumns, row: int) -> Refusal:
    whys = columns.closed[row]
    return Refusal(rule=columns.family, reasons=tuple(sorted(set(whys.values()))))
