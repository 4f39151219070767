"""What breaks, drawn from a seed: kills, pauses, cuts, wrong clocks, wiped stores, and crowds.

The same weather comes over virtual members and over processes; only the pace differs.
"""

import asyncio
from collections.abc import Awaitable, Callable
from random import Random
from typing import Final, Literal, Never, Protocol, TypeAlias

from examples.rooms.settings import PEOPLE_EACH

GAP_S: Final = (4.0, 25.0)
"""So long, at least and at most, until the next thing breaks."""
FAULTS: Final = ("kill", "pause", "partition", "clock", "wipe")
CROWDS_MAX: Final = 9
"""So many members' worth of people at most."""
OFFSET_S_MAX: Final = 20.0

Cut: TypeAlias = Literal["store", "peers", "prometheus"]


class Breakable(Protocol):
    """Where members run, as far as it can be broken."""

    @property
    def living(self) -> list[int]:
        """Return the numbers of those that run and do not stand still."""
        ...

    async def kill(self, index: int) -> None:
        """End a member as SIGKILL does."""
        ...

    async def start_again(self, index: int) -> None:
        """Start it, if it has still a place."""
        ...

    def freeze(self, index: int) -> None:
        """Let it stand still, as SIGSTOP does."""
        ...

    def thaw(self, index: int) -> None:
        """Let it go on."""
        ...

    async def cut(self, index: int, what: Cut, *, is_cut: bool) -> None:
        """Cut this run of it off, or let it in again."""
        ...

    async def set_clock(self, index: int, offset_s: float) -> None:
        """Set its clock wrong."""
        ...

    async def wipe(self) -> None:
        """Empty the store."""
        ...

    def down(self, what: Literal["store", "prometheus"], *, is_down: bool) -> None:
        """Let nobody reach it, or everybody again."""
        ...

    async def mend(self) -> None:
        """Mend everything at once, and start who should run."""
        ...

    def crowd(self, people: int) -> None:
        """Let so many people be there."""
        ...


class Weather:
    """Breaks one thing after the other, and mends each after a while."""

    def __init__(
        self,
        town: Breakable,
        rng: Random,
        *,
        faults: tuple[str, ...] = FAULTS,
        pace: float = 1.0,
        tell: Callable[[str], None] | None = None,
    ) -> None:
        self._town = town
        self._rng = rng
        self._pace = pace
        self._tell = tell
        self._breaks = [each for name in faults for each in BREAKS[name]]
        self._mending: list[asyncio.Task[None]] = []
        self.story: list[str] = []

    async def run(self) -> Never:
        """Break things until cancelled."""
        while True:
            await asyncio.sleep(self._rng.uniform(*GAP_S) * self._pace)
            if not self._breaks or self._rng.randrange(4) == 0:
                self.crowd()
            else:
                await self._rng.choice(self._breaks)(self)

    async def calm(self) -> None:
        """Mend everything at once."""
        mending = list(self._mending)
        for task in mending:
            task.cancel()
        if mending:
            await asyncio.wait(mending)
        await self._town.mend()
        self.tell("it is calm again")

    def tell(self, words: str) -> None:
        """Keep it for whoever reads a run that failed."""
        self.story.append(f"{asyncio.get_running_loop().time():7.1f} s  {words}")
        if self._tell is not None:
            self._tell(words)

    def crowd(self) -> None:
        """Let people come or go."""
        people = self._rng.randrange(PEOPLE_EACH // 2, CROWDS_MAX * PEOPLE_EACH)
        self.tell(f"{people} people")
        self._town.crowd(people)

    async def kill(self) -> None:
        """End a member; it is started anew if it still has a place."""
        index = self._someone()
        if index is not None:
            self.tell(f"kill member {index}")
            await self._town.kill(index)
            seconds = self._seconds(1.0, 12.0)
            self._later(seconds, lambda: self._town.start_again(index))

    async def pause(self) -> None:
        """Let a member stand still."""
        index, seconds = self._someone(), self._seconds(2.0, 40.0)
        if index is not None:
            self.tell(f"pause member {index} for {seconds:.1f} s")
            self._town.freeze(index)

            async def mend() -> None:
                self._town.thaw(index)

            self._later(seconds, mend)

    async def cut_store(self) -> None:
        """Keep a member from the store."""
        await self._cut("store")

    async def cut_peers(self) -> None:
        """Keep a member from all others."""
        await self._cut("peers")

    async def cut_prometheus(self) -> None:
        """Keep a member from Prometheus."""
        await self._cut("prometheus")

    async def store_down(self) -> None:
        """Let nobody reach the store."""
        self._down("store")

    async def prometheus_down(self) -> None:
        """Let nobody reach Prometheus."""
        self._down("prometheus")

    async def clock(self) -> None:
        """Set a member's clock wrong, or right again."""
        index = self._someone()
        if index is not None:
            wrong_s = self._rng.uniform(-OFFSET_S_MAX, OFFSET_S_MAX) * self._pace
            offset_s = self._rng.choice((0.0, wrong_s))
            self.tell(f"the clock of member {index} is wrong by {offset_s:.1f} s")
            await self._town.set_clock(index, offset_s)

    async def wipe(self) -> None:
        """Empty the store."""
        self.tell("the store is wiped")
        await self._town.wipe()

    async def _cut(self, what: Cut) -> None:
        index, seconds = self._someone(), self._seconds(5.0, 60.0)
        if index is not None:
            self.tell(f"member {index} is cut off: {what}, for {seconds:.1f} s")
            await self._town.cut(index, what, is_cut=True)
            self._later(seconds, lambda: self._town.cut(index, what, is_cut=False))

    def _down(self, what: Literal["store", "prometheus"]) -> None:
        seconds = self._seconds(5.0, 60.0)
        self.tell(f"nobody reaches the {what} for {seconds:.1f} s")
        self._town.down(what, is_down=True)

        async def mend() -> None:
            self._town.down(what, is_down=False)

        self._later(seconds, mend)

    def _seconds(self, least: float, most: float) -> float:
        return self._rng.uniform(least, most) * self._pace

    def _someone(self) -> int | None:
        living = self._town.living
        return self._rng.choice(living) if living else None

    def _later(self, seconds: float, mend: Callable[[], Awaitable[None]]) -> None:
        async def wait() -> None:
            await asyncio.sleep(seconds)
            await mend()

        task = asyncio.create_task(wait())
        self._mending.append(task)
        task.add_done_callback(self._mending.remove)


Break: TypeAlias = Callable[[Weather], Awaitable[None]]
BREAKS: Final[dict[str, tuple[Break, ...]]] = {
    "kill": (Weather.kill, Weather.kill),
    "pause": (Weather.pause,),
    "partition": (
        Weather.cut_store,
        Weather.cut_peers,
        Weather.cut_prometheus,
        Weather.store_down,
        Weather.prometheus_down,
    ),
    "clock": (Weather.clock,),
    "wipe": (Weather.wipe,),
}
