"""Regular expressions of RE2 that stand in an expression as literals.

The library reports a pattern that it cannot read on the process' error output besides. Patterns that
are surely wrong are therefore refused before it sees them.
"""

import re
from typing import Final

# RE2 knows these and Python does not, so that Python's opinion on the whole is worth nothing.
_FOREIGN: Final = re.compile(
    r"\\[pPzQEC]|\\x\{|\[\[:|\(\?[a-zA-Z-]*\)|\(\?[a-zA-Z]*U|\(\?<[a-zA-Z]"
)
# Looking around and referring back take more than linear time, which RE2 never does.
_UNSUPPORTED: Final = re.compile(r"\(\?(?:[=!]|<[=!]|>|P=|P>|\()|\\[1-9]")
_ESCAPED_OR_GROUP: Final = re.compile(
    r"\\Q.*?(?:\\E|$)|\\.|\[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]|\((?:\?P?<\w+>|(?!\?))", re.DOTALL
)


def fault(pattern: str) -> str | None:
    """Return what is surely wrong with a pattern, None if nothing was found."""
    plain = re.sub(r"\\\\", "", pattern)
    if _UNSUPPORTED.search(plain):
        return "lookaround, atomic groups and references are not supported"
    if _FOREIGN.search(plain):
        return None
    try:
        re.compile(pattern)
    except re.error as found:
        return str(found)
    return None


def without_captures(pattern: str) -> str:
    """Return a pattern that matches the same, without capturing groups."""
    return _ESCAPED_OR_GROUP.sub(lambda found: _uncaptured(found[0]), pattern)


def _uncaptured(text: str) -> str:
    return "(?:" if text.startswith("(") else text
