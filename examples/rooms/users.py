"""Users: they open rooms, talk in them, come and go, and everything that they are answered is checked.

They ask any member that may serve, as through a load balancer, and another one if the first does not answer
or has no time. A request counts as failed that nobody answered in time.
"""

import asyncio
from collections.abc import Callable, Sequence
from random import Random
from typing import Final, Never

from examples.rooms.checking import Checker
from examples.rooms.messages import Answer, FromUser, Later, Look, NotFound, Open, Say, Shown
from examples.rooms.world import Peers, Unreached
from springtide.base.clock import Clock

REQUEST_S_MAX: Final = 20.0
TRY_S_MAX: Final = 5.0
PAUSE_S: Final = 0.25
THINK_S: Final = 1.0
LOOKS_IN_TEN: Final = 3

Doors = Callable[[], Sequence[str]]
"""Returns the addresses of the members that may serve."""


class Users:
    """Some users, each asking one thing after the other."""

    def __init__(
        self, peers: Peers, doors: Doors, *, clock: Clock, rng: Random, think_s: float = THINK_S
    ) -> None:
        self._peers = peers
        self._doors = doors
        self._clock = clock
        self._rng = rng
        self._think_s = think_s
        self._people = 0
        self.checker = Checker()

    async def open(self, count: int, *, people: int) -> None:
        """Open rooms, with so many people in all of them together."""
        self._people = people
        while len(self.checker.rooms) < count:
            answer = await self.ask(Open(people=people // count))
            if isinstance(answer, Shown):
                self.checker.opened(answer.room, answer.by)

    def crowd(self, people: int) -> None:
        """Let so many people be in all rooms together, from now on."""
        self._people = people

    async def talk(self) -> Never:
        """Be one user, until cancelled."""
        while True:
            await asyncio.sleep(self._rng.uniform(0.5, 1.5) * self._think_s)
            await self.once(self._rng.choice(self.checker.rooms))

    async def once(self, room: str) -> None:
        """Ask one thing about a room, and check the answer."""
        since = self.checker.newest(room)
        if self._rng.randrange(10) < LOOKS_IN_TEN:
            answer = await self.ask(Look(room=room))
            if isinstance(answer, Shown):
                self.checker.looked(answer.room, answer.by, since=since)
        else:
            people = self._people // max(1, len(self.checker.rooms))
            answer = await self.ask(Say(room=room, text=f"after {since}", people=people))
            if isinstance(answer, Shown):
                self.checker.wrote(answer.room, answer.by, since=since)
        if isinstance(answer, NotFound):
            self.checker.lost(room)

    async def all_there(self) -> None:
        """Look at every room at the end."""
        missing: dict[str, str] = {}
        for room in self.checker.rooms:
            since = self.checker.newest(room)
            answer = await self.ask(Look(room=room))
            if isinstance(answer, Shown):
                self.checker.looked(answer.room, answer.by, since=since)
            else:
                missing[room] = str(answer)
        self.checker.gone(missing)

    async def ask(self, message: FromUser) -> Answer:
        """Ask one member after the other until one answers or the time is over."""
        tally, begun_s = self.checker.tally, self._clock.monotonic_s()
        tries = 0
        while True:
            answer = await self._try(message)
            tries += 1
            if not isinstance(answer, Later):
                tally.asked += 1
                tally.at_first += tries == 1
                tally.again += tries > 1
                return answer
            if self._clock.monotonic_s() - begun_s > REQUEST_S_MAX:
                tally.asked += 1
                tally.failed += 1
                why = answer.why.split(":")[0]
                tally.why[why] = tally.why.get(why, 0) + 1
                return answer
            await asyncio.sleep(PAUSE_S)

    async def _try(self, message: FromUser) -> Answer:
        doors = self._doors()
        if not doors:
            return Later(retry_after_s=1, why="No member may serve.")
        door = self._rng.choice(doors)
        try:
            return await self._peers.ask(door, message, timeout_s=TRY_S_MAX)
        except Unreached as fault:
            return Later(retry_after_s=1, why=f"No answer: {fault}")
