"""What moves bytes to and from one API server, and the records that it moves.

`Connection` is the one over the network; tests have one without.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Final, Protocol

import msgspec

Query = Sequence[tuple[str, str]]

JSON: Final = "application/json"
MERGE_PATCH: Final = "application/merge-patch+json"


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What a server sent back."""

    status: int
    body: bytes
    retry_after: str = ""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One request with its body, if it has one."""

    method: str
    path: str
    query: Query = ()
    body: Mapping[str, Any] | None = None
    content_type: str = JSON


class Get(Protocol):
    """Asks one server; whoever calls looks at the status."""

    async def __call__(self, path: str, query: Query) -> Answer:
        """Return the answer, or raise Unreachable or Malformed."""
        ...


class Stream(Protocol):
    """An answer that goes on."""

    @property
    def status(self) -> int:
        """Return the status."""
        ...

    @property
    def retry_after(self) -> str:
        """Return the header of this name, empty if there is none."""
        ...

    async def chunk(self) -> bytes:
        """Return what came next, empty at the end; or raise Unreachable."""
        ...


class Transport(Protocol):
    """Moves bytes to and from one server."""

    async def send(self, request: Request) -> Answer:
        """Return the whole answer, or raise Unreachable, Malformed or Unusable."""
        ...

    def stream(self, path: str, query: Query) -> AbstractAsyncContextManager[Stream]:
        """Open an answer that goes on, and close it at the end of the block."""
        ...
