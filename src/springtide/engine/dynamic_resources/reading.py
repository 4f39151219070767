"""Which attributes an expression can read, as far as its text tells.

Devices of a model differ in attributes that nobody asks about, such as serial numbers. Where only these
differ, nodes are the same question. An attribute that is read by its name has it in the text. What a
text might read otherwise is not guessed at: an expression with a loop, a computed key, a map as a value
or anything else that is not known here may read everything.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from springtide.model.device_slices import AttributeValue, OfferedDevice

EXPRESSIONS_MAX: Final = 1024

Attributes = tuple[tuple[str, AttributeValue], ...]

_PIECE: Final = re.compile(
    r"""\s*(?:("[^"\\\n]*"|'[^'\\\n]*'|[A-Za-z_]\w*|\d[\w.]*|&&|\|\||[=!<>]=|\.\?|\[\?|[.\[\](),<>!?:-]))"""
)
_FUNCTIONS: Final = frozenset(
    {
        "asInteger",
        "compareTo",
        "contains",
        "endsWith",
        "has",
        "hasValue",
        "isGreaterThan",
        "isInteger",
        "isLessThan",
        "isQuantity",
        "isSemver",
        "major",
        "matches",
        "minor",
        "orValue",
        "patch",
        "quantity",
        "semver",
        "sign",
        "startsWith",
        "value",
    }
)
_FIELDS: Final = frozenset({"driver", "attributes", "capacity", "allowMultipleAllocations"})
_MAPS: Final = frozenset({"attributes", "capacity"})
_INDEX: Final = frozenset({"[", "[?"})
_FURTHER: Final = frozenset({".", ".?", *_INDEX})
_END: Final = ""


@lru_cache(maxsize=EXPRESSIONS_MAX)
def words_read(expression: str) -> frozenset[str] | None:
    """Return words among which are the names of all attributes that are read, None for any."""
    pieces = _pieces(expression)
    if pieces is None:
        return None
    padded = [_END, _END, _END, *pieces, _END, _END, _END, _END]
    places = range(3, len(padded) - 4)
    if not all(_is_plain(padded, place) for place in places):
        return None
    return frozenset(
        piece.strip("\"'") for piece in pieces if piece[0].isalpha() or piece[0] in "_\"'"
    )


def attributes_read(device: OfferedDevice, words: frozenset[str] | None) -> Attributes:
    """Return the attributes of a device that something can read that has these words."""
    if words is None:
        return device.attributes
    return tuple([pair for pair in device.attributes if pair[0].rpartition("/")[2] in words])


def _pieces(expression: str) -> list[str] | None:
    pieces: list[str] = []
    text, position = expression.strip(), 0
    while position < len(text):
        matched = _PIECE.match(text, position)
        if matched is None:
            return None
        pieces.append(matched[1])
        position = matched.end()
    return pieces


def _is_plain(pieces: Sequence[str], place: int) -> bool:
    """Return whether a piece, where it stands, reads nothing but what is named."""
    piece, before, after = pieces[place], pieces[place - 1], pieces[place + 1]
    if piece in _INDEX:
        is_literal = not _is_value(before)
        return is_literal or (_is_text(after) and pieces[place + 2] == "]")
    if not _is_word(piece):
        return True
    if after == "(":
        return piece in _FUNCTIONS
    if piece == "device":
        return after == "." and pieces[place + 2] in _FIELDS
    if piece in _MAPS and pieces[place - 2] == "device":
        return after in _INDEX and (pieces[place + 4] in _FURTHER or pieces[place - 3] == "in")
    return not _is_text(after)


def _is_word(piece: str) -> bool:
    return piece[:1].isalpha() or piece[:1] == "_"


def _is_text(piece: str) -> bool:
    return piece[:1] in {'"', "'"}


def _is_value(piece: str) -> bool:
    """Return whether a bracket behind this piece is an index, and not a list."""
    return piece in {"]", ")"} or _is_text(piece) or (_is_word(piece) and piece != "in")
