"""A question with all that is known, in pieces, as one process of ours asks another (`beside`).

Pieces are small enough to be written between other work. Parts that records share are written once, so
that pieces have to be read in order, by one reader.
"""

import io
import pickle
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO, Final

import msgspec

from springtide.apps.planner.families import Policies
from springtide.apps.why.asked import Names
from springtide.model.quotas import NamespaceQuota

RECORDS_AT_ONCE: Final = 250
"""So many take a few milliseconds to write."""


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """What comes first: whom it is about, and how devices are chosen."""

    names: Names
    tells_all_nodes: bool = False
    policies: Policies = Policies()
    device_config: Mapping[str, object] | None = None
    quotas: tuple[NamespaceQuota, ...] = ()


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """The answer as JSON; or, without one, why nobody can be told of, in a sentence."""

    report: msgspec.Raw = msgspec.Raw(b"null")
    unknown: str = ""


class Writer:
    """Writes one question and what is known."""

    def __init__(self) -> None:
        self._buffer = io.BytesIO()
        self._pickler = pickle.Pickler(self._buffer, protocol=pickle.HIGHEST_PROTOCOL)

    def piece(self, value: Question | Sequence[msgspec.Struct]) -> bytes:
        """Return the next piece; an empty sequence is the end of a kind."""
        self._pickler.dump(value)
        data = self._buffer.getvalue()
        self._buffer.seek(0)
        self._buffer.truncate()
        return data


class Reader:
    """Reads what one of our own processes has written, and only that: pieces can run code."""

    def __init__(self, source: BinaryIO) -> None:
        self._unpickler = pickle.Unpickler(source)  # noqa: S301 - ours, as said

    def question(self) -> Question:
        """Return what comes first."""
        found = self._unpickler.load()
        assert isinstance(found, Question), type(found)
        return found

    def records(self) -> Iterator[Any]:
        """Yield the records of the next kind."""
        while some := self._unpickler.load():
            yield from some
