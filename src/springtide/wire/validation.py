"""What is wrong with a decoded value, in words for people instead of the decoder's.

The decoder says "Expected `str`, got `int` - at `$.spec.replicas`". We say where in the reader's own
notation, name the key where the decoder only shows `[...]`, and add what to write instead.
"""

import re
from typing import Final

import msgspec

from springtide.wire.errors import MalformedObject

_COMPLAINT: Final = re.compile(
    r"(?P<what>.*?)(?: - at `(?:key in )?\$\.?(?P<path>.*)`)?", re.DOTALL
)
_TYPES: Final = re.compile(r"Expected `(?P<expected>[^`]+)`(?:, got `(?P<found>[^`]+)`)?")
_FIELD: Final = re.compile(
    r"Object (?P<kind>missing required|contains unknown) field `(?P<name>.*)`"
)
_STEP: Final = re.compile(r"\[(?P<index>\d+)\]|\[\.\.\.\]|\.?(?P<name>[^.\[\]]+)")

_WORDS: Final = {
    "str": "a text", "int": "a whole number", "float": "a number", "bool": "true or false",
    "object": "a map", "array": "a list", "null": "null",
}  # fmt: skip
_QUOTABLE: Final = frozenset({"int", "float", "bool"})

Path = tuple[str | int, ...]
"""Steps to a field: its name, an index, or a `Key`."""


class Key(str):
    """A step that is the key of a map, such as a resource name, and no field of its own."""

    __slots__ = ()


def malformed(fault: msgspec.ValidationError, value: object) -> MalformedObject:
    """Return the decoder's complaint about this plain value in our words."""
    what, path = complaint(fault)
    return MalformedObject(shown(located(path, what, value)), reason(what))


def complaint(fault: msgspec.ValidationError) -> tuple[str, str]:
    """Return what the decoder says, and the path in its notation."""
    matched = _COMPLAINT.fullmatch(str(fault))
    assert matched is not None
    return matched["what"], matched["path"] or ""


def located(path: str, what: str, value: object) -> Path:
    """Return the decoder's path as steps, with real keys in place of its `[...]`."""
    steps: list[str | int] = []
    matches = list(_STEP.finditer(path))
    for matched in matches:
        is_last = matched is matches[-1]
        step = _step(matched, value, found=_found(what) if is_last else "")
        steps.append(step)
        value = _child(value, step)
    named = _FIELD.fullmatch(what)
    if named is not None:
        steps.append(named["name"])
    return tuple(steps)


def shown(path: Path) -> str:
    """Return a path as people write it: `spec.containers[0].resources.limits["cpu"]`."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif isinstance(step, Key):
            text += f'["{step}"]'
        else:
            text += f".{step}" if text else step
    return text


def reason(what: str) -> str:
    """Return a sentence about the complaint, with the remedy."""
    types = _TYPES.fullmatch(what)
    if types is not None and types["found"]:
        return _wrong_type(types["expected"].split(" | "), types["found"])
    if types is not None:
        return f"this should be {_listed(types['expected'].split(' | '))}; correct it."
    named = _FIELD.fullmatch(what)
    if named is None:
        return f"{what[:1].lower()}{what[1:].replace('`', '')}; correct it."
    if named["kind"].startswith("missing"):
        return "this field is required and missing; add it."
    return "there is no such field; remove it."


def _wrong_type(expected: list[str], found: str) -> str:
    remedy = "put it in quotes" if "str" in expected and found in _QUOTABLE else "correct it"
    return f"this is {_listed([found])} where {_listed(expected)} belongs; {remedy}."


def _listed(types: list[str]) -> str:
    if "float" in types:
        types = [each for each in types if each != "int"]
    return " or ".join(
        _WORDS.get(each, each) for each in types if each != "null" or len(types) == 1
    )


def _found(what: str) -> str:
    types = _TYPES.fullmatch(what)
    return (types["found"] or "") if types is not None else ""


def _step(matched: re.Match[str], value: object, *, found: str) -> str | int:
    if matched["index"] is not None:
        return int(matched["index"])
    if matched["name"] is not None:
        return matched["name"]
    # The decoder does not say which key; it is the first whose value has the type that it found.
    entries = value if isinstance(value, dict) else {}
    if not found:
        return Key(_only_container(entries))
    return Key(next((key for key, each in entries.items() if _type(each) == found), "..."))


def _only_container(entries: dict[str, object]) -> str:
    """Return the key on the way to a field further inside, where only one can lead there."""
    keys = [key for key, each in entries.items() if isinstance(each, dict | list)]
    return keys[0] if len(keys) == 1 else "..."


def _child(value: object, step: str | int) -> object:
    if isinstance(value, dict):
        return value.get(step)
    if isinstance(value, list) and isinstance(step, int) and step < len(value):
        return value[step]
    return None


def _type(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool() | int() | float() | str():
            return type(value).__name__
        case dict():
            return "object"
        case _:
            return "array"
