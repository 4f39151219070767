"""What has been told about the objects of one kind: names, uids and versions, no records.

A list is held against it object by object, so that only differences are told, and what a complete list
lacks is known to be gone. A list that breaks off leaves nothing wrong behind: what it showed was so.
"""

from collections.abc import Iterator
from enum import Enum, auto

import msgspec


class Header(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """What tells an object from others, and this version of it."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""

    @property
    def key(self) -> str:
        """Return the namespace and name."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


class News(Enum):
    """How what a server shows differs from what was told."""

    NOTHING = auto()
    ADDED = auto()
    UPDATED = auto()
    REPLACED = auto()
    """Another object of the same name: the known one is gone."""


class Known:
    """What was told, and what could not be read."""

    def __init__(self) -> None:
        self._told: dict[str, tuple[str, str]] = {}
        self._skipped: dict[str, tuple[str, str]] = {}

    def __len__(self) -> int:
        return len(self._told)

    def news(self, header: Header, key: str) -> News:
        """Return what this version of the object is news of."""
        now = (header.uid, header.resource_version)
        before = self._told.get(key)
        if now in (before, self._skipped.get(key)):
            return News.NOTHING
        if before is None:
            return News.ADDED
        return News.UPDATED if before[0] == header.uid else News.REPLACED

    def tell(self, header: Header, key: str) -> None:
        """Note that this version was told."""
        self._told[key] = (header.uid, header.resource_version)
        self._skipped.pop(key, None)

    def skip(self, header: Header, key: str) -> None:
        """Note that this version cannot be read, so that it is told only once."""
        self._skipped[key] = (header.uid, header.resource_version)

    def forget(self, key: str) -> str | None:
        """Forget an object, and return its uid if it was told."""
        self._skipped.pop(key, None)
        told = self._told.pop(key, None)
        return None if told is None else told[0]

    def beyond(self, listed: set[str]) -> Iterator[str]:
        """Yield the keys that a complete list lacks; they may be forgotten meanwhile."""
        yield from [key for key in (*self._told, *self._skipped) if key not in listed]
