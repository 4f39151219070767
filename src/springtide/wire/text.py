"""The text of a source: which encoding, and whether it is JSON or YAML."""

import codecs
import re
from typing import Final

_UTF16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_JSON: Final = re.compile(rb"[ \t\r\n]*[{\[]")
_SEPARATOR: Final = re.compile(rb"---[ \t\r]*(?:\n|$)\s*")


def utf8(data: bytes) -> bytes:
    """Return the text as UTF-8 without a mark; some shells redirect output as UTF-16."""
    if data.startswith(_UTF16):
        return data.decode("utf-16", errors="replace").encode()
    return data.removeprefix(codecs.BOM_UTF8)


def is_json(data: bytes) -> bool:
    """Return whether the first character that is not blank starts JSON."""
    return _JSON.match(data) is not None


def next_document(data: bytes, at: int) -> int | None:
    """Return where the document starts that follows at this place, None if none can."""
    if _JSON.match(data, at) is not None:
        return at
    separator = _SEPARATOR.match(data, at)
    return separator.end() if separator is not None else None
