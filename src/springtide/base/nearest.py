"""The nearest known word to a mistyped one."""

from collections.abc import Sequence

_SIMILAR = 0.5


def nearest(word: str, known: Sequence[str]) -> str | None:
    """Return the known word that is most like this one in any case, or None if none is like it."""
    # Only a mistake needs it, and every start would pay for loading it.
    from difflib import get_close_matches  # noqa: PLC0415

    by_lower = {each.lower(): each for each in reversed(known)}
    close = get_close_matches(word.lower(), by_lower, n=1, cutoff=_SIMILAR)
    return by_lower[close[0]] if close else None
