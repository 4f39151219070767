"""JSON into typed records as Go's strict decoder does it, with its complaints word for word.

The first value of a wrong type is told with the Go type that it should have had; unknown and
repeated fields are collected. Names are case-sensitive, null leaves a field as it is.
"""

import base64
import binascii
import re
from collections.abc import Callable
from typing import Any, Final, TypeAlias, TypeVar

import msgspec
from msgspec import inspect

from springtide.base.durations import MalformedDuration, parse_duration_ns
from springtide.model.scheduler_values import Duration
from springtide.wire.kubescheduler.names import EMBEDDED, NAMED_TYPES, go_name, go_type
from springtide.wire.kubescheduler.parsed import (
    Complaint,
    Members,
    Number,
    Strictness,
    kind_of,
)
from springtide.wire.validation import Path

T = TypeVar("T")

_INTEGER: Final = re.compile(r"-?[0-9]{1,20}")
_BASE64: Final = re.compile(r"[A-Za-z0-9+/]*={0,2}")
_FLOAT32_MAX: Final = 3.4028235e38
_ZEROS: Final[dict[type, Any]] = {
    inspect.VarTupleType: (),
    inspect.BytesType: b"",
    inspect.BoolType: False,
    inspect.IntType: 0,
    inspect.FloatType: 0.0,
}
# These decide which type an object is, and are no fields of the type.
_META: Final = frozenset({"apiVersion", "kind"})


def read(node: Any, of: type[T], strictness: Strictness) -> T:
    """Return the parsed object as this record, or raise Complaint about a value's type."""
    reading = _Reading(strictness)
    value = reading.value(node, inspect.type_info(of), _At())
    if reading.wrong is not None:
        raise reading.wrong
    record: T = value
    return record


class _At(msgspec.Struct, frozen=True, kw_only=True):
    """Where the reader is: the path, and the struct and fields as Go names them."""

    path: Path = ()
    owner: str = ""
    fields: tuple[str, ...] = ()
    named: str = ""

    def field(self, cls: type, name: str) -> "_At":
        owner = go_name(cls).rpartition(".")[2]
        steps = (EMBEDDED[name], name) if name in EMBEDDED else (name,)
        return _At(
            path=(*self.path, name),
            owner=owner,
            fields=(*self.fields, *steps),
            named=NAMED_TYPES.get((cls, name), ""),
        )

    def item(self, index: int) -> "_At":
        return msgspec.structs.replace(self, path=(*self.path, index))


_Read: TypeAlias = Callable[[Any, Any, _At], Any]


class _Reading:
    def __init__(self, strictness: Strictness) -> None:
        self._strictness = strictness
        self.wrong: Complaint | None = None

    def value(self, node: Any, of: inspect.Type, at: _At) -> Any:
        """Return the value of a node, the type's zero value where there is none."""
        if isinstance(of, inspect.AnyType):
            return node
        if isinstance(of, inspect.UnionType):
            return None if node is None else self.value(node, _pointee(of), at)
        if isinstance(of, inspect.StructType) and of.cls is Duration:
            return self._duration(node, at)
        if node is None:
            return _zero(of)
        readers: dict[type, _Read] = {
            inspect.StructType: self._struct,
            inspect.VarTupleType: self._list,
            inspect.DictType: self._map,
            inspect.BytesType: self._bytes,
        }
        reader: _Read = readers.get(of.__class__, self._scalar)
        return reader(node, of, at)

    def _struct(self, node: Any, of: inspect.StructType, at: _At) -> Any:
        if not isinstance(node, Members):
            return self._mistyped(node, of, at)
        fields = {field.encode_name: field for field in of.fields}
        values: dict[str, Any] = {}
        seen: set[str] = set()
        for name, each in node:
            inner = at.field(of.cls, name)
            if name in seen:
                self._strictness.add("duplicate", inner.path)
            seen.add(name)
            field = fields.get(name)
            if field is not None:
                values[field.name] = self.value(each, field.type, inner)
            elif at.path or name not in _META:
                self._strictness.add("unknown", inner.path)
        return of.cls(**values)

    def _list(self, node: Any, of: inspect.VarTupleType, at: _At) -> Any:
        if not _is_list(node):
            return self._mistyped(node, of, at)
        return tuple(
            self.value(each, of.item_type, at.item(index)) for index, each in enumerate(node)
        )

    def _map(self, node: Any, of: inspect.DictType, at: _At) -> Any:
        if not isinstance(node, Members):
            return self._mistyped(node, of, at)
        return {name: self.value(each, of.value_type, at) for name, each in node}

    def _scalar(self, node: Any, of: inspect.Type, at: _At) -> Any:
        match of, node:
            case inspect.StrType(), str() if not isinstance(node, Number):
                return node
            case inspect.BoolType(), bool():
                return node
            case inspect.IntType(ge=ge, le=le), Number() if _INTEGER.fullmatch(node) and (
                ge or 0
            ) <= int(node) <= (le or 0):
                return int(node)
            case inspect.FloatType(), Number() if abs(float(node)) <= _FLOAT32_MAX:
                return float(node)
            case inspect.IntType() | inspect.FloatType(), Number():
                return self._mistyped(node, of, at, what=f"number {node}")
            case _:
                return self._mistyped(node, of, at)

    def _bytes(self, node: Any, of: inspect.Type, at: _At) -> Any:
        if not isinstance(node, str) or isinstance(node, Number):
            return self._mistyped(node, of, at)
        text = node.replace("\r", "").replace("\n", "")
        try:
            return base64.b64decode(text, validate=True)
        except binascii.Error:
            return self._fail(f"illegal base64 data at input byte {_broken_at(text)}", at.path)

    def _duration(self, node: Any, at: _At) -> Any:
        if node is not None and kind_of(node) != "string":
            return self._mistyped(node, inspect.StrType(), at, default=Duration())
        try:
            return Duration(parse_duration_ns(node or ""))
        except MalformedDuration as fault:
            return self._fail(str(fault), at.path, default=Duration())

    def _mistyped(
        self, node: Any, of: inspect.Type, at: _At, *, what: str = "", default: Any = None
    ) -> Any:
        what = what or kind_of(node)
        where = (
            f"Go struct field {at.owner}.{'.'.join(at.fields)} of" if at.owner else "Go value of"
        )
        named = at.named if isinstance(of, inspect.StrType) else ""
        text = f"json: cannot unmarshal {what} into {where} type {named or go_type(of)}"
        return self._fail(text, at.path, default=_zero(of) if default is None else default)

    def _fail(self, text: str, path: Path, *, default: Any = b"") -> Any:
        """Keep the first complaint; reading goes on, as in Go."""
        if self.wrong is None:
            self.wrong = Complaint(text, path)
        return default


def _pointee(of: inspect.UnionType) -> inspect.Type:
    return next(each for each in of.types if not isinstance(each, inspect.NoneType))


def _zero(of: inspect.Type) -> Any:
    if isinstance(of, inspect.StructType):
        zero: Any = of.cls
        return zero()
    return _ZEROS.get(type(of), "")


def _is_list(node: Any) -> bool:
    return isinstance(node, list) and not isinstance(node, Members)


def _broken_at(text: str) -> int:
    """Return where base64 breaks: at a foreign character, or in the last, short quantum."""
    matched = _BASE64.match(text)
    end = matched.end() if matched is not None else 0
    return end if end < len(text) else len(text) // 4 * 4
