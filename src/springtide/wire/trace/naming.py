"""Names of rows: each stands in a table once."""

from springtide.wire.trace.table import Row, shown


class Names:
    """The names that a table has so far, and the lines they stand on."""

    def __init__(self, column: str) -> None:
        self._column = column
        self._lines: dict[str, int] = {}

    def taken(self, row: Row) -> str:
        """Return the row's name, or raise the fault that an earlier row has it."""
        name = row.named(self._column)
        first = self._lines.setdefault(name, row.line)
        if first != row.line:
            reason = f"{shown(name)} stands on line {first} already; rename one of them."
            raise row.fault(self._column, reason)
        return name
