"""CSV with a header: rows whose cells know where they stand.

Columns may come in any order. One that is missing, unknown or named twice, a row of another width and
text that is not UTF-8 are faults; blank lines are skipped. A mark at the start is skipped too, and
UTF-16, in which some spreadsheets save, is read.
"""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from typing import Final

from springtide.wire.errors import InvalidDocument, MalformedDocument
from springtide.wire.text import utf8

AMOUNT_MAX: Final = 2**40
"""More of anything than one machine has; sums of a million stay exact."""
SHOWN_CHARACTERS_MAX: Final = 40
_WHOLE: Final = re.compile(r"[0-9]{1,15}", re.ASCII)


class Row:
    """One row of a table; cells are read by the name of their column."""

    __slots__ = ("_cells", "_columns", "_source", "line")

    def __init__(
        self, cells: list[str], *, columns: dict[str, int], source: str, line: int
    ) -> None:
        self._cells = cells
        self._columns = columns
        self._source = source
        self.line = line

    def text(self, column: str) -> str:
        """Return a cell, empty where the table has no such column."""
        index = self._columns.get(column)
        return "" if index is None else self._cells[index]

    def has(self, column: str) -> bool:
        """Return whether the table has this column."""
        return column in self._columns

    def named(self, column: str) -> str:
        """Return a cell that must not be empty."""
        text = self.text(column)
        if not text.strip():
            raise self.fault(column, "the cell is empty; write a name.")
        return text

    def amount(self, column: str, *, at_most: int = AMOUNT_MAX) -> int:
        """Return a cell as a whole number from 0 on."""
        text = self.text(column)
        if _WHOLE.fullmatch(text) and (number := int(text)) <= at_most:
            return number
        reason = f"{shown(text)} is no whole number from 0 to {at_most:,}; correct the cell."
        raise self.fault(column, reason)

    def optional(self, column: str) -> int | None:
        """Return a cell as a whole number, None where it is empty."""
        return self.amount(column) if self.text(column) else None

    def fault(self, column: str, reason: str) -> InvalidDocument:
        """Return the fault of one cell."""
        return InvalidDocument(self._source, line=self.line, field=column, reason=reason)


def rows(
    data: bytes, *, source: str, required: Sequence[str], optional: Sequence[str] = ()
) -> Iterator[Row]:
    """Yield the rows below the header, or raise a DocumentFault."""
    lines = _records(_text(data, source), source)
    line, header = next(lines, (1, []))
    columns = _columns(header, source=source, line=line, required=required, optional=optional)
    is_empty = True
    for line, cells in lines:
        if len(cells) != len(columns):
            reason = f"there are {len(cells)} cells under {len(columns)} columns;"
            remedy = "separate cells by one comma each, and quote those that hold one."
            raise MalformedDocument(source, line=line, reason=reason, remedy=remedy)
        is_empty = False
        yield Row(cells, columns=columns, source=source, line=line)
    if is_empty:
        reason = "the table has no rows; was the file cut off?"
        raise InvalidDocument(source, line=line, field="", reason=reason)


def shown(text: str) -> str:
    """Return a cell as a message quotes it."""
    if len(text) > SHOWN_CHARACTERS_MAX:
        text = text[:SHOWN_CHARACTERS_MAX] + "…"
    return repr(text)


def _text(data: bytes, source: str) -> str:
    data = utf8(data)
    try:
        return data.decode()
    except UnicodeDecodeError as fault:
        line = data.count(b"\n", 0, fault.start) + 1
        remedy = "save the file as UTF-8."
        raise MalformedDocument(
            source, line=line, reason="the text is not UTF-8;", remedy=remedy
        ) from fault


def _records(text: str, source: str) -> Iterator[tuple[int, list[str]]]:
    """Yield line and cells of each record that is not blank; the line is its last."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        for cells in reader:
            if cells:
                yield reader.line_num, cells
    except csv.Error as fault:
        remedy = "close each quote that is opened, and write a quote inside a cell twice."
        raise MalformedDocument(
            source, line=reader.line_num, reason=f"this is no CSV: {fault};", remedy=remedy
        ) from fault


def _columns(
    header: list[str], *, source: str, line: int, required: Sequence[str], optional: Sequence[str]
) -> dict[str, int]:
    columns = {name: index for index, name in enumerate(header)}

    def fault(name: str, reason: str) -> InvalidDocument:
        return InvalidDocument(source, line=line, field=name, reason=reason)

    for name in required:
        if name not in columns:
            reason = f"the column is missing; the first line must name {', '.join(required)}."
            raise fault(name, reason)
    for name in columns:
        if name not in required and name not in optional:
            known = ", ".join([*required, *optional])
            raise fault(
                shown(name), f"no such column is known; leave it out, or name one of {known}."
            )
    if len(columns) < len(header):
        twice = next(name for name in header if header.count(name) > 1)
        raise fault(twice, "the column stands there twice; leave one of them out.")
    return columns
