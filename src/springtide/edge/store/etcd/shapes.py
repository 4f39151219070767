"""What etcd's JSON gateway is asked and answers: keys and values in base64, large numbers as texts.

Fields that are zero are left out by etcd, so every one has a default.
"""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias, TypeVar

import msgspec

from springtide.edge.store.errors import Malformed

Fields: TypeAlias = Mapping[str, object]

T = TypeVar("T")

DELETE: Final = "DELETE"


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """Who answers, and as of which revision."""

    cluster_id: str = ""
    revision: int = 0


class KeyValue(msgspec.Struct, frozen=True, kw_only=True):
    """One key; one that was deleted has no value, and the revision of the deletion."""

    key: bytes = b""
    value: bytes = b""
    mod_revision: int = 0


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """What a range has; `count` is all of it, whatever was asked for."""

    kvs: tuple[KeyValue, ...] = ()
    count: int = 0


class _Response(msgspec.Struct, frozen=True, kw_only=True):
    response_range: Found = Found()


class TxnAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a transaction: one response for each operation of the branch that was taken."""

    header: Header = Header()
    succeeded: bool = False
    responses: tuple[_Response, ...] = ()

    @property
    def found(self) -> tuple[Found, ...]:
        """Return what its reads found."""
        return tuple(each.response_range for each in self.responses)


class Lease(msgspec.Struct, frozen=True, kw_only=True):
    """A lease that was granted or kept; one that ran out has no time left."""

    id: int = msgspec.field(default=0, name="ID")
    ttl_s: int = msgspec.field(default=0, name="TTL")


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to one keepalive."""

    result: Lease = Lease()


class Token(msgspec.Struct, frozen=True, kw_only=True):
    """What is shown instead of a password."""

    token: str = ""


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """Why something was not done, under one of two names."""

    message: str = ""
    error: str = ""

    @property
    def words(self) -> str:
        """Return etcd's own words."""
        return self.message or self.error


class Happened(msgspec.Struct, frozen=True, kw_only=True):
    """One change; that of a value has no type."""

    type: str = ""
    kv: KeyValue = KeyValue()


class Watched(msgspec.Struct, frozen=True, kw_only=True):
    """One message of a watch."""

    header: Header = Header()
    watch_id: int = 0
    created: bool = False
    canceled: bool = False
    cancel_reason: str = ""
    compact_revision: int = 0
    events: tuple[Happened, ...] = ()


class WatchLine(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the stream."""

    result: Watched | None = None
    error: Fault | None = None


def decoded(body: bytes, kind: type[T], what: str) -> T:
    """Return an answer, or raise Malformed."""
    try:
        return msgspec.json.decode(body, type=kind, strict=False)
    except (msgspec.DecodeError, UnicodeDecodeError) as fault:
        raise Malformed(
            f"What came for {what} is no answer of etcd ({fault}). Correct the endpoints."
        ) from fault


def encoded(fields: Fields) -> bytes:
    """Return what is sent."""
    return msgspec.json.encode(fields)


def text(data: str | bytes) -> str:
    """Return a key or a value as it travels."""
    return b64encode(data.encode() if isinstance(data, str) else data).decode()


def after(prefix: str) -> bytes:
    """Return the first key that no longer begins with this."""
    data = prefix.encode()
    return data[:-1] + bytes([data[-1] + 1])


def span(key: str, *, is_prefix: bool) -> Fields:
    """Return a range of one key, or of all that begin with it."""
    end = {"range_end": text(after(key))} if is_prefix else {}
    return {"key": text(key), **end}


def get(key: str, *, is_prefix: bool = False, since: int = 0) -> Fields:
    """Return an operation that reads what is newer than a revision."""
    newer = {"min_mod_revision": str(since + 1)} if since else {}
    return {"request_range": {**span(key, is_prefix=is_prefix), **newer}}


def count(key: str) -> Fields:
    """Return an operation that counts what begins with a key."""
    return {"request_range": {**span(key, is_prefix=True), "count_only": True}}


def put(key: str, value: str | bytes, *, lease: int = 0) -> Fields:
    """Return an operation that writes."""
    held = {"lease": str(lease)} if lease else {}
    return {"request_put": {"key": text(key), "value": text(value), **held}}


def delete(key: str) -> Fields:
    """Return an operation that deletes."""
    return {"request_delete_range": {"key": text(key)}}


def is_at(key: str, revision: int) -> Fields:
    """Return a condition: nobody wrote the key since; 0 is a key that is not there."""
    return {
        "key": text(key),
        "target": "MOD",
        "mod_revision": str(revision),
        "result": "EQUAL",
    }


def hangs_on(key: str, lease: int) -> Fields:
    """Return a condition: the key is there, on this lease."""
    return {"key": text(key), "target": "LEASE", "lease": str(lease), "result": "EQUAL"}


def is_absent(key: str) -> Fields:
    """Return a condition: there is no such key."""
    return {"key": text(key), "target": "CREATE", "create_revision": "0", "result": "EQUAL"}


def txn(
    then: Sequence[Fields], *, compare: Sequence[Fields] = (), otherwise: Sequence[Fields] = ()
) -> Fields:
    """Return a transaction."""
    return {"compare": list(compare), "success": list(then), "failure": list(otherwise)}
