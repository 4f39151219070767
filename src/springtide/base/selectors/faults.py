"""Field faults in the words of the Kubernetes API: `path: Invalid value: "x": why`.

Clients compare these texts, so quoting and joining follow the API's to the letter.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

_ESCAPES: Final = {
    '"': '\\"', "\\": "\\\\", "\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r",
    "\t": "\\t", "\v": "\\v",
}  # fmt: skip
# The API escapes these in JSON so that texts can stand in a web page.
_HTML_ESCAPES: Final = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def invalid(path: str, value: str, why: str) -> str:
    """Return the fault of one text value."""
    return f"{path}: Invalid value: {quoted(value)}: {why}"


def invalid_list(path: str, values: Sequence[str], why: str) -> str:
    """Return the fault of a whole list."""
    shown = msgspec.json.encode(list(values)).decode()
    return f"{path}: Invalid value: {shown.translate(_HTML_ESCAPES)}: {why}"


def unsupported(path: str, value: str, supported: Sequence[str]) -> str:
    """Return the fault of a value outside an enumeration."""
    names = ", ".join(quoted(name) for name in supported)
    return f"{path}: Unsupported value: {quoted(value)}: supported values: {names}"


def joined(faults: Sequence[str]) -> str:
    """Return all faults as one text: repeated ones once, several in brackets."""
    distinct = tuple(dict.fromkeys(faults))
    return distinct[0] if len(distinct) == 1 else f"[{', '.join(distinct)}]"


def quoted(text: str) -> str:
    """Return the text in double quotes with what does not print escaped."""
    return '"' + "".join(_escaped(char) for char in text) + '"'


def _escaped(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    if char.isprintable():
        return char
    code = ord(char)
    if code < 0x80:  # noqa: PLR2004 - the end of ASCII
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004 - 16 bits
