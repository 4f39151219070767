"""The network between virtual members: it takes time, is cut, and delivers late what nobody waits for."""

import asyncio
import contextvars
from collections.abc import Awaitable, Callable
from random import Random
from typing import Final

import msgspec

from examples.rooms.messages import Answer, Message
from examples.rooms.world import Unreached

HOP_S: Final = 0.002
LATE_S_MAX: Final = 30.0
LATE_IN_TEN: Final = 3
"""So many of ten requests that are cut off come all the same, much later."""


class Served(msgspec.Struct, frozen=True):
    """Who answers at an address, and in whose context."""

    answer: Callable[[Message], Awaitable[Answer]]
    context: contextvars.Context


class Network:
    """All addresses."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._served: dict[str, Served] = {}
        self._late: set[asyncio.Task[Answer]] = set()
        self.cut: set[str] = set()
        """Addresses that reach no other and that no other reaches; their users are others, too."""

    def serve(self, address: str, served: Served) -> None:
        """Answer at this address from now on."""
        self._served[address] = served

    def unserve(self, address: str) -> None:
        """Answer there no more."""
        self._served.pop(address, None)

    async def ask(self, origin: str, address: str, message: Message, *, timeout_s: float) -> Answer:
        """Return an answer, or raise Unreached."""
        try:
            async with asyncio.timeout(timeout_s):
                return await self._ask(origin, address, message)
        except TimeoutError:
            raise Unreached("no answer in time") from None

    async def _ask(self, origin: str, address: str, message: Message) -> Answer:
        await asyncio.sleep(HOP_S)
        if self._is_cut(origin, address):
            self._deliver_late(address, message)
            await asyncio.Event().wait()
        task = self._begin(address, message)
        if task is None:
            raise Unreached("nobody listens there")
        await asyncio.wait([task])
        if task.cancelled():
            raise Unreached("the connection broke")
        await asyncio.sleep(HOP_S)
        if self._is_cut(origin, address):
            await asyncio.Event().wait()
        return task.result()

    def _is_cut(self, origin: str, address: str) -> bool:
        return origin != address and bool(self.cut & {origin, address})

    def _begin(self, address: str, message: Message) -> asyncio.Task[Answer] | None:
        served = self._served.get(address)
        if served is None:
            return None
        work = _answered(served, message)
        return asyncio.get_running_loop().create_task(work, context=served.context)

    def _deliver_late(self, address: str, message: Message) -> None:
        if self._rng.randrange(10) >= LATE_IN_TEN:
            return
        wait_s = self._rng.uniform(0.0, LATE_S_MAX)

        def deliver() -> None:
            task = self._begin(address, message)
            if task is not None:
                self._late.add(task)
                task.add_done_callback(self._late.discard)

        contextvars.Context().run(asyncio.get_running_loop().call_later, wait_s, deliver)


async def _answered(served: Served, message: Message) -> Answer:
    return await served.answer(message)


class Line(msgspec.Struct):
    """What one member, or the users, have of the network; a line that is dead reaches nobody."""

    network: Network
    origin: str
    is_dead: bool = False

    async def ask(self, address: str, message: Message, *, timeout_s: float) -> Answer:
        """Return an answer, or raise Unreached."""
        if self.is_dead:
            raise Unreached("this process has ended")
        return await self.network.ask(self.origin, address, message, timeout_s=timeout_s)
