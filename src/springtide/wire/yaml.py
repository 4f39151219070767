"""YAML documents as kubectl reads them, as plain data with line numbers.

The parser is libyaml's; what its events mean is decided here and in `scalars`, so that a document
gives the same JSON as through kubectl. Merge keys apply where they stand, as there. We are stricter
in one place: a key that stands twice in one map is an error, where kubectl lets the last one win.
"""

import base64
import binascii
import math
from collections.abc import Iterator
from typing import Final

import yaml
from msgspec import Struct

from springtide.wire.errors import MalformedDocument
from springtide.wire.scalars import Scalar, as_json, as_key, resolved

DEPTH_MAX: Final = 200
# Aliases let a short text stand for an endless document.
NODES_MAX: Final = 10_000_000

Plain = Scalar | dict[str, "Plain"] | list["Plain"]

_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TAG: Final = "tag:yaml.org,2002:"
_MERGE: Final = "<<"


class Document(Struct, frozen=True, kw_only=True):
    """One document: its data, the line where it starts, and the lines of its fields."""

    value: Plain
    line: int
    lines: dict[tuple[int, str | int], int]

    def line_of(self, path: tuple[str | int, ...]) -> int:
        """Return the line of the field at this path, or of the nearest field around it."""
        line, value = self.line, self.value
        for step in path:
            line = self.lines.get((id(value), step), line)
            if isinstance(value, dict) and isinstance(step, str):
                value = value.get(step)
            elif isinstance(value, list) and isinstance(step, int) and step < len(value):
                value = value[step]
            else:
                break
        return line


Repeated = list[tuple[str, int]]
"""Keys that stand twice in one map, with the line of the second."""


def documents(data: bytes, source: str, *, repeated: Repeated | None = None) -> list[Document]:
    """Return the documents of a stream, empty ones left out, or raise MalformedDocument.

    A list for repeated keys takes them in, and their last value counts.
    """
    try:
        return [each for each in _documents(data, source, repeated) if each.value is not None]
    except yaml.reader.ReaderError as fault:
        line = data[: fault.position].count(b"\n") + 1
        reason = f"this is not YAML: {fault.reason}."
        raise _malformed(source, line, reason, "Write the file as UTF-8 text.") from fault
    except yaml.MarkedYAMLError as fault:
        raise _not_yaml(fault, data, source) from fault


def _documents(data: bytes, source: str, repeated: Repeated | None) -> Iterator[Document]:
    builder: _Builder | None = None
    for event in yaml.parse(data, Loader=_LOADER):
        match event:
            case yaml.DocumentStartEvent():
                builder = _Builder(source, repeated)
            case yaml.DocumentEndEvent():
                assert builder is not None
                yield builder.document()
            case yaml.StreamStartEvent() | yaml.StreamEndEvent():
                pass
            case _:
                assert builder is not None
                builder.take(event)


class _Frame(Struct, kw_only=True):
    """A map or list that is still open."""

    value: dict[str, Plain] | list[Plain]
    line: int
    nodes_before: int
    anchor: str | None = None
    key: str | None = None
    is_merging: bool = False
    keys: set[str] = set()


class _Builder:
    """Builds one document from its events, without recursion."""

    def __init__(self, source: str, repeated: Repeated | None) -> None:
        self._source = source
        self._repeated = repeated
        self._open: list[_Frame] = []
        self._anchors: dict[str, tuple[Plain, int] | None] = {}
        self._lines: dict[tuple[int, str | int], int] = {}
        self._node_count = 0
        self._root: Plain = None
        self._line = 0

    def document(self) -> Document:
        """Return the finished document."""
        return Document(value=self._root, line=self._line, lines=self._lines)

    def take(self, event: yaml.Event) -> None:
        """Fold one event into the document."""
        assert event.start_mark is not None
        line = event.start_mark.line + 1
        match event:
            case yaml.ScalarEvent():
                self._take_scalar(event, line)
            case yaml.MappingStartEvent():
                self._enter({}, event.anchor, line)
            case yaml.SequenceStartEvent():
                self._enter([], event.anchor, line)
            case yaml.AliasEvent():
                assert event.anchor is not None
                self._take_alias(event.anchor, line)
            case _:
                self._leave()

    def _enter(self, value: dict[str, Plain] | list[Plain], anchor: str | None, line: int) -> None:
        if len(self._open) == DEPTH_MAX:
            reason = f"maps and lists are nested more than {DEPTH_MAX} deep."
            raise _malformed(self._source, line, reason, "Flatten the document.")
        self._count(1, line)
        if anchor is not None:
            self._anchors[anchor] = None
        self._open.append(
            _Frame(value=value, line=line, nodes_before=self._node_count, anchor=anchor)
        )

    def _leave(self) -> None:
        frame = self._open.pop()
        if frame.anchor is not None:
            size = self._node_count - frame.nodes_before + 1
            self._anchors[frame.anchor] = (frame.value, size)
        self._put(frame.value, frame.line)

    def _take_alias(self, anchor: str, line: int) -> None:
        if anchor not in self._anchors:
            reason = f'the alias "*{anchor}" names no anchor.'
            raise _malformed(self._source, line, reason, f'Mark its value with "&{anchor}" before.')
        anchored = self._anchors[anchor]
        if anchored is None:
            reason = f'the value of the anchor "{anchor}" contains itself.'
            raise _malformed(self._source, line, reason, "Write the value out.")
        value, size = anchored
        self._count(size, line)
        self._put(value, line)

    def _take_scalar(self, event: yaml.ScalarEvent, line: int) -> None:
        self._count(1, line)
        is_key = self._expects_key()
        if is_key and event.value == _MERGE and event.implicit[0]:
            self._open[-1].is_merging = True
            return
        value = self._scalar(event, line)
        if event.anchor is not None:
            self._anchors[event.anchor] = (value, 1)
        self._put(value, line)

    def _expects_key(self) -> bool:
        if not self._open:
            return False
        frame = self._open[-1]
        return isinstance(frame.value, dict) and frame.key is None and not frame.is_merging

    def _put(self, value: Plain, line: int) -> None:
        if not self._open:
            self._root, self._line = _in_json(value), line
            return
        frame = self._open[-1]
        if isinstance(frame.value, list):
            self._lines[id(frame.value), len(frame.value)] = line
            frame.value.append(_in_json(value))
        elif frame.is_merging:
            self._merge(frame.value, value, line)
            frame.is_merging = False
        elif frame.key is None:
            self._open_key(frame, value, line)
        else:
            frame.value[frame.key] = _in_json(value)
            frame.key = None

    def _open_key(self, frame: _Frame, value: Plain, line: int) -> None:
        key = None if isinstance(value, dict | list) else as_key(value)
        if key is None:
            reason = "this key is neither a text nor a number."
            raise _malformed(self._source, line, reason, "Put the key in quotes.")
        if key in frame.keys and self._repeated is not None:
            self._repeated.append((key, line))
        elif key in frame.keys:
            first = self._lines[id(frame.value), key]
            reason = f'the key "{key}" is given twice, first in line {first}.'
            raise _malformed(self._source, line, reason, "Remove one of them.")
        frame.keys.add(key)
        frame.key = key
        self._lines[id(frame.value), key] = line

    def _merge(self, into: dict[str, Plain], value: Plain, line: int) -> None:
        # Of several maps the first wins, so the last goes in first.
        for each in reversed(value) if isinstance(value, list) else [value]:
            if not isinstance(each, dict):
                reason = 'the merge key "<<" takes a map or a list of maps.'
                raise _malformed(self._source, line, reason, "Give it an alias of a map.")
            into.update(each)
            for key in each:
                self._lines[id(into), key] = self._lines.get((id(each), key), line)

    def _scalar(self, event: yaml.ScalarEvent, line: int) -> Scalar:
        tag = (event.tag or "").removeprefix(_TAG)
        value = _meaning(event.value, tag=tag, is_plain=event.implicit[0])
        if isinstance(value, _Misfit):
            reason = f'"{event.value}" is not {value.what}.'
            raise _malformed(self._source, line, reason, "Correct the value, or put it in quotes.")
        return value

    def _count(self, nodes: int, line: int) -> None:
        self._node_count += nodes
        if self._node_count > NODES_MAX:
            reason = f"with its aliases written out the document has more than {NODES_MAX} values."
            raise _malformed(self._source, line, reason, "Split it into several documents.")


class _Misfit(Struct, frozen=True):
    what: str


def _in_json(value: Plain) -> Plain:
    return value if isinstance(value, dict | list) else as_json(value)


def _meaning(text: str, *, tag: str, is_plain: bool) -> Scalar | _Misfit:
    if is_plain:
        value = resolved(text)
        is_finite = not isinstance(value, float) or math.isfinite(value)
        return value if is_finite else _Misfit("a number that JSON can write")
    match tag:
        case "int" | "float" | "bool" | "null":
            return _tagged(resolved(text), tag)
        case "binary":
            return _unpacked(text)
        case _:
            return text


def _tagged(value: Scalar, tag: str) -> Scalar | _Misfit:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    match tag:
        case "int":
            return value if is_number else _Misfit("a whole number")
        case "float":
            return value if is_number else _Misfit("a number")
        case "bool":
            return value if isinstance(value, bool) else _Misfit("true or false")
        case _:
            return None if value is None else _Misfit("null")


def _unpacked(text: str) -> str | _Misfit:
    try:
        return base64.b64decode("".join(text.split()), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return _Misfit("base64 of a text")


def _not_yaml(fault: yaml.MarkedYAMLError, data: bytes, source: str) -> MalformedDocument:
    mark = fault.problem_mark or fault.context_mark
    line = mark.line + 1 if mark is not None else 1
    lines = data.splitlines()
    text = lines[line - 1] if line <= len(lines) else b""
    indent = text[: len(text) - len(text.lstrip())]
    remedy = (
        "Indent with spaces instead of tabs."
        if b"\t" in indent
        else "Correct the indentation, quotes and brackets there."
    )
    return _malformed(source, line, f"this is not YAML: {fault.problem}.", remedy)


def _malformed(source: str, line: int, reason: str, remedy: str) -> MalformedDocument:
    return MalformedDocument(source, line=line, reason=reason, remedy=remedy)
