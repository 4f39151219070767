"""The nearest known word to a mistyped one."""

from collections.abc import Sequence

_SIMILAR = 0.5


def nearest(word: str, known: Sequence[str]) -> str | None:
    """Return the known word that is most like this one, or None if none is like it."""
    # Only a mistake needs it, and every start would pay for loading it.
    from difflib import get_close_matches  # noqa: PLC0415

    return next(iter(get_close_matches(word, known, n=1, cutoff=_SIMILAR)), None)
