"""One stream of watches: what etcd tells line by line of what happens to keys."""

from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from typing import Final

from springtide.edge.store.errors import Malformed, StoreFault, Unreachable
from springtide.edge.store.etcd import refusals
from springtide.edge.store.etcd.gateway import Gateway
from springtide.edge.store.etcd.shapes import Watched, WatchLine, decoded
from springtide.edge.store.etcd.spans import Span, watches

LINE_BYTES_MAX: Final = 64 << 20
PATH: Final = "/v3/watch"


class Compacted(StoreFault):
    """What came after the revision that was wanted is forgotten: all has to be read again."""


class Dropped(StoreFault):
    """The stream ended; nothing is lost by it."""


async def watched(
    gateway: Gateway, looked_at: tuple[Span, ...], seen: tuple[int, ...]
) -> AsyncGenerator[Watched]:
    """Yield what is told after what is known, until the stream breaks; raises StoreFault then."""
    async with gateway.stream(PATH, watches(looked_at, seen)) as parts:
        async for line in lines(parts):
            yield message(line, has_user=gateway.has_user)
    raise Dropped("etcd ended the watch.")


async def lines(parts: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield whole lines, empty ones not."""
    kept: list[bytes] = []
    size = 0
    async for part in parts:
        *ended, rest = part.split(b"\n")
        for line in _ended(kept, ended):
            yield line
        if ended:
            kept, size = [], 0
        kept.append(rest)
        size += len(rest)
        if size > LINE_BYTES_MAX:
            raise Malformed(f"etcd told more than {LINE_BYTES_MAX >> 20} MiB at once.")


def _ended(kept: list[bytes], ended: list[bytes]) -> Iterator[bytes]:
    for number, line in enumerate(ended):
        whole = b"".join((*kept, line)) if number == 0 else line
        if whole.strip():
            yield whole


def message(line: bytes, *, has_user: bool) -> Watched:
    """Return what a line tells, or raise what it says that ended the watch."""
    told = decoded(line, WatchLine, PATH)
    if told.error is not None:
        raise refusals.told(told.error.words, has_user=has_user)
    if told.result is None:
        raise Malformed("A line of the watch says nothing. Correct the endpoints.")
    if told.result.compact_revision:
        raise Compacted(f"etcd forgot what came before {told.result.compact_revision}.")
    if told.result.canceled:
        why = told.result.cancel_reason
        if refusals.COMPACTED in why:
            raise Compacted(f"etcd forgot what was to be watched ({why}).")
        raise refusals.told(why, has_user=has_user) if why else Unreachable("The watch was ended.")
    return told.result
