"""Where text goes: how wide it may be, whether it may have colour, which characters it may have."""

import os
import sys
from typing import Final

import click
import msgspec

WIDTH_MIN: Final = 40
WIDTH_UNKNOWN: Final = 80
# For terminals that cannot show the sign itself.
_PLAIN: Final = {"→": "->", "×": "x", "–": "-", "’": "'", "█": "#", "░": "."}


class Terminal(msgspec.Struct, frozen=True, kw_only=True):
    """Properties of standard output; `width` is None where lines may be of any length."""

    width: int | None = None
    has_colour: bool = False
    encoding: str = "utf-8"

    def write(self, text: str) -> None:
        """Print one text to standard output."""
        click.echo(self._encodable(text), color=self.has_colour)

    def _encodable(self, text: str) -> str:
        try:
            text.encode(self.encoding)
        except UnicodeEncodeError:
            for sign, plain in _PLAIN.items():
                text = text.replace(sign, plain)
            return text.encode(self.encoding, "backslashreplace").decode(self.encoding)
        return text


def standard_output() -> Terminal:
    """Return what standard output of this process can show."""
    is_terminal = sys.stdout.isatty()
    wants_colour = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return Terminal(
        width=max(WIDTH_MIN, _columns()) if is_terminal else None,
        has_colour=is_terminal and wants_colour,
        encoding=sys.stdout.encoding or "utf-8",
    )


def _columns() -> int:
    """Return the width that COLUMNS gives or the terminal has; 0 of either means unknown."""
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given):
        return int(given)
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or WIDTH_UNKNOWN
    except OSError:
        return WIDTH_UNKNOWN
