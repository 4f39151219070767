"""Text in columns and paragraphs. Without a width nothing is wrapped: programs read lines.

Lines carry colour; whoever writes them to something that is no terminal removes it.
"""

import textwrap
from collections.abc import Sequence
from typing import Final

import click

GAP: Final = "  "
WORD_MIN: Final = 16
"""Words up to this long are never broken."""


def table(
    headers: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    width: int | None,
    first_colour: str | None = None,
    has_headers: bool = True,
) -> list[str]:
    """Return the lines of a table; what is too wide is wrapped inside its column."""
    shown = [list(headers), *rows] if has_headers else list(rows)
    widths = _widths(shown, width)
    lines: list[str] = []
    for number, row in enumerate(shown):
        is_header = has_headers and number == 0
        cells = [_wrapped(cell, size) for cell, size in zip(row, widths, strict=True)]
        for level in range(max(map(len, cells))):
            parts = [cell[level] if level < len(cell) else "" for cell in cells]
            lines.append(_line(parts, widths, is_header=is_header, first_colour=first_colour))
    return lines


def paragraph(text: str, *, width: int | None, indent: str = "") -> list[str]:
    """Return the text as lines no wider than the width."""
    if width is None:
        return [indent + text]
    return textwrap.wrap(
        text,
        width,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _line(
    parts: Sequence[str], widths: Sequence[int], *, is_header: bool, first_colour: str | None
) -> str:
    padded = [part.ljust(size) for part, size in zip(parts, widths, strict=True)]
    padded[-1] = parts[-1]
    if is_header:
        return click.style(GAP.join(padded).rstrip(), bold=True)
    bare = parts[0]
    if first_colour is not None and bare:
        padded[0] = click.style(bare, fg=first_colour) + " " * (len(padded[0]) - len(bare))
    return GAP.join(padded).rstrip()


def _widths(rows: Sequence[Sequence[str]], width: int | None) -> list[int]:
    """Return the columns' widths: their longest cell, the widest columns cut until all fit.

    Long words are broken in two where that makes the table fit. Where it does not, words stay whole
    and the table too wide: a name in many pieces is worse to read than a line that goes on.
    """
    columns = list(zip(*rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    if width is None:
        return widths
    least = [max(map(_widest, column)) for column in columns]
    room = width - len(GAP) * (len(widths) - 1)
    whole = _cut(widths, least, room)
    halves = _cut(whole, [max(min(size, WORD_MIN), -(-size // 2)) for size in least], room)
    return halves if sum(halves) <= room else whole


def _widest(cell: str) -> int:
    """Return how wide the widest word of a cell is; the first one stands behind its indent."""
    indent = len(cell) - len(cell.lstrip())
    first, *others = cell.split() or [""]
    return max([indent + len(first), *map(len, others)])


def _cut(widths: Sequence[int], least: Sequence[int], room: int) -> list[int]:
    """Return the widths, the widest ones cut until they fit the room or are as small as may be."""
    cut = list(widths)
    for _ in range(sum(widths) - room):
        loose = [index for index, size in enumerate(cut) if size > least[index]]
        if not loose:
            break
        cut[max(loose, key=lambda index: (cut[index], index))] -= 1
    return cut


def _wrapped(cell: str, size: int) -> list[str]:
    if len(cell) <= size:
        return [cell]
    is_broken = max(map(len, cell.split())) > size
    return textwrap.wrap(cell, size, break_long_words=True, break_on_hyphens=is_broken)
