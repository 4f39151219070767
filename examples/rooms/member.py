"""One member of the service: rooms, a controller, and what joins them.

The same code runs in a process of its own and in virtual time; the world that it is given differs.
"""

import asyncio
from typing import Final

from examples.rooms.answering import Answering
from examples.rooms.holding import Holding
from examples.rooms.messages import Answer, Count, Counted, Message
from examples.rooms.moving import Moving
from examples.rooms.world import Unreached, World
from springtide.model.replicas.member import Member as OtherMember
from springtide.model.replicas.settings import ReplicaSettings
from springtide.replicas import Identity, ReplicaController
from springtide.replicas.migration import Draining
from springtide.replicas.reaching import Reaching
from springtide.replicas.stopping import drain

RECOVERY_S: Final = 1.0
"""So often a member that came back looks whether what it had is elsewhere by now."""
PING_S_MAX: Final = 1.0
EMPTY_S: Final = 0.2
"""So often a member looks whether it is empty that came back too late to be ready, and leaves."""


class Member:
    """A member that was started; `answer` is what the server calls."""

    def __init__(self, identity: Identity, settings: ReplicaSettings, world: World) -> None:
        self._world = world
        self.holding = Holding(world.journal)
        self.controller = ReplicaController(
            settings,
            identity,
            store=world.store,
            clock=world.clock,
            calendar=world.calendar,
            log=world.log,
            metrics=world.metrics,
            drawn_permille=world.drawn_permille,
        )
        self.draining = Draining(
            owned=lambda: self.holding.book.owned, in_flight=self.holding.requests
        )
        self._reaching = Reaching(identity.name, self._is_there, timeout_s=PING_S_MAX)
        self._answering = Answering(self.controller, self.holding, world.peers)
        self.moving = Moving(self.controller, self.holding, world.peers, world.clock)
        self.tasks: list[asyncio.Task[None]] = []
        """What runs until the end; none of it ends before."""

    async def start(self) -> None:
        """Say what was restored, and begin."""
        controller = self.controller
        controller.set_ready_check(self._is_ready)
        controller.set_stateful_check(self.draining.holds_state)
        controller.subscribe("target_changed", self.moving.wake)
        controller.subscribe("round", self.moving.wake)
        await controller.start()
        self.tasks = [
            asyncio.create_task(self.moving.run(), name="rooms-moving"),
            asyncio.create_task(self._recover(), name="rooms-recovering"),
        ]

    async def answer(self, message: Message) -> Answer:
        """Answer a user or another member."""
        return await self._answering.answer(message)

    async def leave(self, *, timeout_s: float | None = None) -> bool:
        """Give everything away and stop; return whether nothing is left here."""
        self.moving.wake()
        was_drained = False
        try:
            async with asyncio.timeout(timeout_s):
                was_drained = await drain(self.controller)
                while self.draining.holds_state():
                    await self.holding.moved(timeout_s=EMPTY_S)
        except TimeoutError:
            pass
        await self.close()
        return was_drained and not self.draining.holds_state()

    async def close(self) -> None:
        """Stop at once."""
        for task in self.tasks:
            task.cancel()
        if self.tasks:
            await asyncio.wait(self.tasks)
        await self.controller.close()

    async def _is_ready(self) -> bool:
        """Return whether the rooms of before are loaded, which they are, and others can be reached."""
        return await self._reaching.check(self.controller.snapshot().members)

    async def _is_there(self, other: OtherMember) -> bool:
        try:
            found = await self._world.peers.ask(other.address, Count(), timeout_s=PING_S_MAX)
        except Unreached:
            return False
        return isinstance(found, Counted)

    async def _recover(self) -> None:
        """Take over the record of the run before this one: with its rooms, or to say that none is left."""
        if self.holding.has_restored:
            await self.controller.declare_recovered(holds_state=True)
        while True:
            controller = self.controller
            is_out = not controller.is_target() and not controller.is_ready()
            if is_out and not self.draining.holds_state():
                await controller.declare_recovered(holds_state=False)
            await asyncio.sleep(RECOVERY_S)
