"""Moves the rooms of a member to where they belong, one after the other, whatever breaks meanwhile."""

import asyncio
from typing import Final, Never

from examples.rooms.book import Dropped, Given, Giving, Kept
from examples.rooms.holding import Holding
from examples.rooms.messages import Answer, Give, Means, Message, No, Offer, Yes
from examples.rooms.placing import owner
from examples.rooms.world import Peers, Unreached
from springtide.base.clock import Clock
from springtide.model.replicas.member import Member
from springtide.replicas import ReplicaController

TURN_S: Final = 1.0
"""So often is looked for rooms that are in the wrong place; a change of the Target is looked at at once."""
ASK_S_MAX: Final = 1.0
AT_ONCE_MAX: Final = 8
DOUBT_S: Final = 3.0
"""After so long is asked whether a promised room will really come."""
PROMISE_S_MAX: Final = 120.0
"""So long does a promise hold to a member that is not there any more."""


class Moving:
    """One member's moves."""

    def __init__(
        self, controller: ReplicaController, holding: Holding, peers: Peers, clock: Clock
    ) -> None:
        self._controller = controller
        self._holding = holding
        self._peers = peers
        self._clock = clock
        self._woken = asyncio.Event()
        self._promised_s: dict[str, float] = {}
        self.moved = 0

    def wake(self, *_: object) -> None:
        """Look at once."""
        self._woken.set()

    async def run(self) -> Never:
        """Move until cancelled."""
        while True:
            await self.turn()
            try:
                async with asyncio.timeout(TURN_S):
                    await self._woken.wait()
            except TimeoutError:
                pass
            self._woken.clear()

    async def turn(self) -> None:
        """Look once at all rooms."""
        turns = asyncio.Semaphore(AT_ONCE_MAX)

        async def one(room: str) -> None:
            async with turns:
                await self._settle(room)

        book = self._holding.book
        if book.rooms:
            wanted = [room for room in book.rooms if room in book.giving or self._goal(room)]
            await asyncio.gather(*(one(room) for room in wanted))
        await self._doubt()

    def _goal(self, room: str) -> Member | None:
        is_target = self._controller.is_target()
        return owner(room, self._controller.snapshot(), is_target=is_target)

    async def _settle(self, room: str) -> None:
        """Send on what is under way, or begin to move what is in the wrong place."""
        book = self._holding.book
        if room in book.giving:
            return await self._give(room)
        goal = self._goal(room)
        if goal is None or room not in book.rooms:
            return None
        self._holding.offering.add((room, goal.name))
        try:
            answer = await self._ask(goal, Offer(room=room, giver=self._name))
            if isinstance(answer, Yes) and book.accepts_writes(room):
                version = book.rooms[room].version + 1
                self._holding.write(Giving(room, version, goal.name))
                await self._give(room)
        finally:
            self._holding.offering.discard((room, goal.name))

    async def _give(self, room: str) -> None:
        book = self._holding.book
        to = self._member(book.giving[room])
        if to is None:
            return
        sent = book.rooms[room]
        answer = await self._ask(to, Give(room=sent, giver=self._name))
        if book.giving.get(room) != to.name or book.rooms[room].version != sent.version:
            return
        if isinstance(answer, Yes):
            self._holding.write(Given(room))
            self.moved += 1
        elif isinstance(answer, No):
            self._holding.write(Kept(room, sent.version + 1))

    async def _doubt(self) -> None:
        """Ask after rooms that were promised to be taken and do not come."""
        book, now_s = self._holding.book, self._clock.monotonic_s()
        self._promised_s = {each: self._promised_s.get(each, now_s) for each in book.expecting}
        for room, giver in list(book.expecting.items()):
            if now_s - self._promised_s[room] < DOUBT_S:
                continue
            if await self._is_off(room, giver) and book.expecting.get(room) == giver:
                self._holding.write(Dropped(room))

    async def _is_off(self, room: str, giver: str) -> bool:
        member = self._member(giver)
        if member is None:
            waited_s = self._clock.monotonic_s() - self._promised_s[room]
            return waited_s > PROMISE_S_MAX
        answer = await self._ask(member, Means(room=room, to=self._name))
        return isinstance(answer, No)

    def _member(self, name: str) -> Member | None:
        members = self._controller.snapshot().members
        return next((each for each in members if each.name == name), None)

    @property
    def _name(self) -> str:
        return self._controller.snapshot().name

    async def _ask(self, member: Member, message: Message) -> Answer | None:
        try:
            return await self._peers.ask(member.address, message, timeout_s=ASK_S_MAX)
        except Unreached:
            return None
