"""What is told about the objects of one kind, in the order in which it became known.

Added, Updated and Deleted, applied to an empty dictionary, give what the server has, as of the latest
Synced. A list after a gap is told as the differences that it shows: nothing is told twice.
"""

from typing import Generic, TypeAlias, TypeVar

import msgspec

from springtide.edge.cluster.errors import ClusterFault

T = TypeVar("T")


class Added(msgspec.Struct, Generic[T], frozen=True, kw_only=True):
    """An object that was not there; `key` is its namespace and name."""

    key: str
    uid: str
    version: str
    record: T


class Updated(msgspec.Struct, Generic[T], frozen=True, kw_only=True):
    """An object that is known has changed, perhaps more than once."""

    key: str
    uid: str
    version: str
    record: T


class Deleted(msgspec.Struct, frozen=True):
    """An object that is known is no longer there.

    One of the same name that came after it is Added, with another uid.
    """

    key: str
    uid: str


class Skipped(msgspec.Struct, frozen=True, kw_only=True):
    """A version of an object cannot be read; what is known of it, if anything, may be out of date.

    It is Updated or Added once it can be read again, and Deleted only if it was Added.
    """

    key: str
    version: str
    why: str


class Synced(msgspec.Struct, frozen=True):
    """All that the server had at this version has been told; comes again with every bookmark."""

    version: str


class Interrupted(msgspec.Struct, frozen=True):
    """Nothing is being heard, after so many failures in a row; it is tried again, for ever."""

    fault: ClusterFault
    failures: int


class Resumed(msgspec.Struct, frozen=True):
    """The server answers again; what was missed comes next."""


Change: TypeAlias = Added[T] | Updated[T] | Deleted | Skipped | Synced | Interrupted | Resumed
