"""Goes through a large JSON text value by value, so that others can have their turn in between.

Only texts that are as they should be are gone through: whoever meets `Astray` reads the whole text at
once, and says what is wrong with it.
"""

import re
from collections.abc import Iterator
from typing import Final

import msgspec

from springtide.wire.errors import DocumentFault
from springtide.wire.json_faults import end_of_first

Buffer = bytes | bytearray

_SPACE: Final = re.compile(rb"[ \t\r\n]*")
_RAW: Final = msgspec.json.Decoder(msgspec.Raw)
_KEY: Final = msgspec.json.Decoder(str)
_UNREADABLE: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


class Astray(DocumentFault):
    """The text is not what it should be, or ends too early."""


class Walk:
    """A text that is gone through once, from its beginning."""

    def __init__(self, data: Buffer) -> None:
        self._data = data
        self._view = memoryview(data)
        self._at = 0

    @property
    def position(self) -> int:
        """Return how far it has come."""
        return self._at

    def members(self) -> Iterator[str]:
        """Yield the keys of the object that comes next, in lower case; each value is to be taken."""
        self._take(b"{")
        if self._takes(b"}"):
            return
        while True:
            key = _decoded(self.value())
            self._take(b":")
            yield key
            if self._takes(b"}"):
                return
            self._take(b",")

    def elements(self) -> Iterator[msgspec.Raw]:
        """Yield the elements of the array that comes next."""
        self._take(b"[")
        if self._takes(b"]"):
            return
        while True:
            yield self.value()
            if self._takes(b"]"):
                return
            self._take(b",")

    def value(self) -> msgspec.Raw:
        """Take the value that comes next, as it is written and without copying it.

        It ends where the decoder finds that there is more text.
        """
        self._skip_space()
        rest = self._view[self._at :]
        try:
            _RAW.decode(rest)
        except _UNREADABLE as fault:
            end = end_of_first(fault)
            if end is None:
                raise Astray(str(fault)) from fault
            self._at += end
            return msgspec.Raw(rest[:end])
        raise Astray("the text ends within an object")

    def takes_null(self) -> bool:
        """Take a null if that comes next, and return whether it did."""
        return self._takes(b"null")

    def _takes(self, mark: bytes) -> bool:
        self._skip_space()
        end = self._at + len(mark)
        is_next = self._data[self._at : end] == mark
        if is_next:
            self._at = end
        return is_next

    def _take(self, mark: bytes) -> None:
        if not self._takes(mark):
            raise Astray(f"{mark.decode()} is missing")

    def _skip_space(self) -> None:
        found = _SPACE.match(self._data, self._at)
        assert found is not None
        self._at = found.end()


def _decoded(key: msgspec.Raw) -> str:
    try:
        return _KEY.decode(key).lower()
    except _UNREADABLE as fault:
        raise Astray("a key is no text") from fault
