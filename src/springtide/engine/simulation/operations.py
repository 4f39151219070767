"""Changes that were made already: the same call again gets the first answer, and nothing happens twice.

A caller that lost an answer sends its call again, under the same id. Another call under that id is a
mistake of the caller. Memory is bounded; what was answered longest ago is forgotten first.
"""

from collections import OrderedDict

import msgspec

from springtide.engine.simulation.bounds import Bounds
from springtide.engine.simulation.errors import OperationReused


class _Done(msgspec.Struct, frozen=True):
    """What a call was, and what it was answered."""

    digest: bytes
    answer: bytes


class Operations:
    """The answers to the changes of one session, by the ids of their operations."""

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self._done: OrderedDict[str, _Done] = OrderedDict()
        self._bytes = 0

    def __len__(self) -> int:
        """Return how many answers are remembered."""
        return len(self._done)

    def answer(self, operation: str, digest: bytes) -> bytes | None:
        """Return what this very call was answered, None if it is new."""
        done = self._done.get(operation)
        if done is None:
            return None
        if done.digest != digest:
            raise OperationReused(operation)
        return done.answer

    def remember(self, operation: str, digest: bytes, answer: bytes) -> None:
        """Remember the answer to a call."""
        self._done[operation] = _Done(digest, answer)
        self._bytes += len(answer)
        while (
            len(self._done) > self._bounds.operations_max
            or self._bytes > self._bounds.answers_bytes_max
        ) and len(self._done) > 1:
            _, forgotten = self._done.popitem(last=False)
            self._bytes -= len(forgotten.answer)
