"""Where a JSON text breaks, and what was expected there."""

import re
from typing import Final

import msgspec

from springtide.wire.errors import MalformedDocument

_AT: Final = re.compile(r"JSON is malformed: (?P<what>.*) \(byte (?P<byte>\d+)\)")
_TRUNCATED: Final = "Input data was truncated"
_TRAILING: Final = "trailing characters"
_AGAIN: Final = "Write it again, for example with kubectl get nodes,pods -A -o json."


def end_of_first(fault: Exception) -> int | None:
    """Return where more follows a complete JSON text, None if that is not the complaint."""
    matched = _AT.fullmatch(str(fault))
    if matched is None or matched["what"] != _TRAILING:
        return None
    # Only this complaint counts the character that it points at.
    return int(matched["byte"]) - 1


def malformed_json(
    fault: Exception, data: bytes, *, source: str, first_line: int = 1
) -> MalformedDocument:
    """Return the decoder's complaint with the place in the source."""
    matched = _AT.fullmatch(str(fault))
    if str(fault) == _TRUNCATED:
        offset = len(data)
        reason = f"the JSON breaks off at byte {offset}, where {_expected(data)} was expected."
    elif matched is not None:
        offset = end_of_first(fault) or int(matched["byte"])
        reason = f"this is not JSON at byte {offset}: {matched['what']}."
    elif isinstance(fault, RecursionError):
        offset, reason = 0, "the JSON is nested too deeply to be an object of Kubernetes."
    else:
        offset = _first_undecodable(data)
        reason = f"this is not JSON at byte {offset}: {fault}."
    line = first_line + data.count(b"\n", 0, offset)
    return MalformedDocument(source, line=line, reason=reason, remedy=_AGAIN)


_EXPECTATIONS: Final = {
    "expected ',' or '}'": "a comma or a closing brace",
    "expected ',' or ']'": "a comma or a closing bracket",
    "expected ':'": "a colon",
    "expected '\"'": "the name of a field",
    "invalid character": "a value",
}


def _expected(data: bytes) -> str:
    """Ask the decoder: a character that fits nowhere but inside a text makes it say what would."""
    try:
        msgspec.json.decode(data + b" x", type=msgspec.Raw)
    except msgspec.DecodeError as fault:
        matched = _AT.fullmatch(str(fault))
        if matched is not None:
            return _EXPECTATIONS.get(matched["what"], "the rest of a value")
    return "the end of a text"


def _first_undecodable(data: bytes) -> int:
    try:
        data.decode()
    except UnicodeDecodeError as fault:
        return fault.start
    return 0
