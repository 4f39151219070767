"""Puts the library's errors into words for whoever wrote the expression.

Kubernetes' own words are kept where it has any: `no such key: model`.
"""

import re
from collections.abc import Callable
from typing import Final

from springtide.wire.cel.declarations import DEVICE_FIELDS

SHOWN_MAX: Final = 3

_ISSUE: Final = re.compile(r"^ERROR: <input>:(-?\d+):(-?\d+): (.*)$", re.MULTILINE)
_STATUS: Final = re.compile(r"^[A-Z_]+: | \[[A-Z_]+\]$")
# The type of what was found to be wrong already.
_CONSEQUENCE: Final = "*error*"
_FIELD: Final = re.compile(r"undeclared reference to 'device\.(\w+)'")
_DEVICE: Final = "undeclared reference to 'device'"

_Word = str | Callable[[re.Match[str]], str]
_COMPILE_WORDS: Final[tuple[tuple[re.Pattern[str], _Word], ...]] = (
    (_FIELD, lambda found: f"undefined field '{found[1]}': device has {', '.join(DEVICE_FIELDS)}"),
    (re.compile(_DEVICE + r"(?! \w)"), "device is no value by itself: name one of its fields"),
    (re.compile(r" \(in container ''\)"), ""),
    (re.compile(r"'@?_?([^\s_a-zA-Z]+|\[_\]|in)_?' applied"), r"'\1' applied"),
    (re.compile(r"mismatched input '<EOF>' expecting .*"), "it ends too early"),
    (re.compile(r"(extraneous|mismatched) input '<EOF>' expecting .*"), "it ends too early"),
    (
        re.compile(r"(?:extraneous|mismatched) input ('.*?') expecting .*"),
        r"\1 does not belong here",
    ),
)
_RUNTIME_WORDS: Final[tuple[tuple[re.Pattern[str], _Word], ...]] = (
    (re.compile(r'Key not found in map : "(.*)"'), r"no such key: \1"),
    (re.compile(r"Key not found in map : (.*)"), r"no such key: \1"),
    (re.compile(r"No matching overloads found : "), "no such overload: "),
    (re.compile(r"\b(u?int)64\b"), r"\1"),
    (re.compile(r"malformed UTF-8 bytes"), "no such overload: string(version)"),
    # That a quantity or a version travels as bytes is nobody's business.
    (re.compile(r"(?<=[(, ])bytes(?=[,)])"), "quantity or version"),
    (re.compile(r"<jump_condition>"), "the condition is no bool"),
    (re.compile(r"<iter_range>"), "only lists and maps have elements"),
    (re.compile(r"Applying SELECT to non-message type"), "no such overload: only maps have keys"),
    (re.compile(r"divide by zero"), "division by zero"),
    (re.compile(r"Index error: index=(-?\d+) .*"), r"index out of bounds: \1"),
    (re.compile(r"Iteration budget exceeded"), "it is too expensive: it loops too often"),
)


def of_compiler(error: str) -> str:
    """Return the issues of an expression that does not compile, each with its place."""
    error = _STATUS.sub("", error)
    issues = [_issue(*found) for found in _ISSUE.findall(error) if _CONSEQUENCE not in found[-1]]
    if not issues:
        return _in_words(error, _COMPILE_WORDS)
    return "; ".join(dict.fromkeys(issues[:SHOWN_MAX]))


def at(expression: str, offset: int, message: str) -> str:
    """Return a message with the place of an offset in an expression."""
    line = expression.count("\n", 0, offset) + 1
    column = offset - (expression.rfind("\n", 0, offset) + 1) + 1
    return f"line {line}, column {column}: {message}"


def of_evaluation(error: str) -> str:
    """Return why an expression has no value on a device."""
    return _in_words(_STATUS.sub("", error), _RUNTIME_WORDS)


def _issue(line: str, column: str, message: str) -> str:
    words = _in_words(message, _COMPILE_WORDS)
    return words if line == "-1" else f"line {line}, column {column}: {words}"


def _in_words(message: str, words: tuple[tuple[re.Pattern[str], _Word], ...]) -> str:
    for pattern, word in words:
        message = pattern.sub(word, message)
    return message
