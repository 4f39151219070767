"""Numbers of members that have no ordinals, each held by a lease under its own key.

A place in the order of all moves when others come and go. A number that is allocated stays, and
whoever comes next takes the lowest that is free, so that numbers have no gaps for long.
"""

from collections.abc import Mapping
from typing import Final

INDEX_MAX: Final = 2**31 - 1


def allocate(taken: Mapping[int, str], own: str, *, before: int | None = None) -> int:
    """Return the number that a member holds, or had before if it is free, or else the lowest free one."""
    held = min((index for index, holder in taken.items() if holder == own), default=None)
    if held is not None:
        return held
    if before is not None and before not in taken:
        return before
    return next(index for index in range(1, INDEX_MAX) if index not in taken)
