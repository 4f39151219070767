"""Values on their way to the store: started at once, written one after the other, and durable later.

A newer value takes the place of one that still waits under the same key. What has begun is never recalled, so
values of one key are written in the order in which they were set. Each is tried once.
"""

import asyncio
from typing import Final, Never

from springtide.edge.store import Conflict, Oversized, StoreFault, Unreachable
from springtide.model.replicas.values import ValueKey, misnamed, oversized
from springtide.replicas.context import Context

WRITE_S_MAX: Final = 10.0
WAITING_MAX: Final = 256
"""So many values may wait to be written."""
REPLACED: Final = "Replaced"
"""The reason of a Conflict: a newer value took the place of one that still waited."""


class Write:
    """One value: it is being written from when this is there."""

    def __init__(self, key: ValueKey, text: str) -> None:
        self.key = key
        self.text = text
        self._done: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    @property
    def is_done(self) -> bool:
        """Return whether it is known what became of it."""
        return self._done.done()

    async def durable(self) -> int:
        """Wait until the store has it, and return the revision; or raise a StoreFault that says why not."""
        return await asyncio.shield(self._done)

    def end(self, revision: int) -> None:
        """Know that the store has it."""
        if not self._done.done():
            self._done.set_result(revision)

    def fail(self, fault: StoreFault) -> None:
        """Know that it was not written, or that nobody knows; who does not ask is not bothered."""
        if not self._done.done():
            self._done.set_exception(fault)
            self._done.exception()


class Writes:
    """What waits to be written."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._waiting: dict[ValueKey, Write] = {}
        self._woken = asyncio.Event()
        self._is_closed = False

    def start(self, key: ValueKey, text: str) -> Write:
        """Have a value written, or raise Oversized where it never could be."""
        why = misnamed(key) or oversized(key, text)
        if not why and key not in self._waiting and len(self._waiting) >= WAITING_MAX:
            why = f"{WAITING_MAX} values wait to be written; wait for one of them before the next."
        if why:
            raise Oversized(why)
        write = Write(key, text)
        if self._is_closed:
            write.fail(_ended(key))
            return write
        replaced, self._waiting[key] = self._waiting.pop(key, None), write
        if replaced is not None:
            words = f'A newer value of "{key.folder.name}/{key.subkey}" took its place.'
            replaced.fail(Conflict(REPLACED, words))
        self._woken.set()
        return write

    async def run(self) -> Never:
        """Write until cancelled."""
        while True:
            await self._woken.wait()
            self._woken.clear()
            while self._waiting:
                await self._write(self._waiting.pop(next(iter(self._waiting))))

    def close(self) -> None:
        """Let nothing wait any more."""
        self._is_closed = True
        while self._waiting:
            key, write = self._waiting.popitem()
            write.fail(_ended(key))

    async def _write(self, write: Write) -> None:
        try:
            async with asyncio.timeout(WRITE_S_MAX):
                write.end(await self._context.store.put_value(write.key, write.text))
        except StoreFault as fault:
            self._failed(write, fault)
        except TimeoutError:
            self._failed(write, Unreachable(f"The store did not answer in {WRITE_S_MAX:g} s."))
        finally:
            # Only who was cancelled on the way has not said what became of it.
            write.fail(_ended(write.key))

    def _failed(self, write: Write, fault: StoreFault) -> None:
        self._context.count_backend_error("put_value", str(fault))
        write.fail(fault)


def _ended(key: ValueKey) -> Unreachable:
    return Unreachable(
        f'The controller ended before the value of "{key.folder.name}/{key.subkey}" was known to be written.'
    )
