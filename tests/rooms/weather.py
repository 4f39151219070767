"""What breaks in a town, drawn from a seed: kills, pauses, cuts, wrong clocks, wiped stores, and crowds."""

import asyncio
from collections.abc import Awaitable, Callable
from random import Random
from typing import Final, Never

from tests.rooms.town import PEOPLE_EACH, Town

GAP_S: Final = (4.0, 25.0)
"""So long, at least and at most, until the next thing breaks."""
FAULTS: Final = ("kill", "pause", "partition", "clock", "wipe")
CROWDS_MAX: Final = 9
"""So many members' worth of people at most."""
OFFSET_S_MAX: Final = 20.0

Break = Callable[["Weather"], Awaitable[None]]


class Weather:
    """Breaks one thing after the other, and mends each after a while."""

    def __init__(self, town: Town, rng: Random, *, faults: tuple[str, ...] = FAULTS) -> None:
        self._town = town
        self._rng = rng
        self._breaks = [each for name in faults for each in BREAKS[name]]
        self._mending: set[asyncio.Task[None]] = set()
        self.story: list[str] = []

    async def run(self) -> Never:
        """Break things until cancelled."""
        while True:
            await asyncio.sleep(self._rng.uniform(*GAP_S))
            if self._rng.randrange(4) == 0:
                await self.crowd()
            elif self._breaks:
                await self._rng.choice(self._breaks)(self)

    async def calm(self) -> None:
        """Mend everything at once."""
        town = self._town
        for task in self._mending:
            task.cancel()
        if self._mending:
            await asyncio.wait(self._mending)
        town.site.is_down = town.prometheus.is_down = False
        town.network.cut.clear()
        town.without_prometheus.clear()
        town.offsets_s.clear()
        for index, run in list(town.runs.items()):
            run.store.is_cut = False
            run.calendar.offset_s = 0.0
            town.thaw(index)
        for index in range(1, town.scaler.replicas + 1):
            if index not in town.runs:
                await town.start(index)
        self.tell("calm")

    def tell(self, words: str) -> None:
        """Keep it for whoever reads a run that failed."""
        now_s = asyncio.get_running_loop().time()
        self.story.append(f"{now_s:7.1f} s  {words}")

    async def crowd(self) -> None:
        """Let people come or go."""
        people = self._rng.randrange(PEOPLE_EACH // 2, CROWDS_MAX * PEOPLE_EACH)
        self.tell(f"{people} people")
        self._town.users.crowd(people)

    async def kill(self) -> None:
        """End a member; it is started anew if it still has a place."""
        index = self._someone()
        if index is None:
            return
        self.tell(f"kill {index}")
        await self._town.kill(index)
        self._later(self._rng.uniform(1.0, 12.0), lambda: self._restart(index))

    async def pause(self) -> None:
        """Let a member stand still."""
        index = self._someone()
        if index is None:
            return
        seconds = self._rng.uniform(2.0, 40.0)
        self.tell(f"pause {index} for {seconds:.0f} s")
        self._town.freeze(index)
        self._later(seconds, lambda: self._thaw(index))

    async def cut_store(self) -> None:
        """Keep a member from the store."""
        index = self._someone()
        if index is None:
            return
        run, seconds = self._town.runs[index], self._rng.uniform(5.0, 60.0)
        self.tell(f"cut {index} off the store for {seconds:.0f} s")
        run.store.is_cut = True

        async def mend() -> None:
            run.store.is_cut = run.disk.is_dead

        self._later(seconds, mend)

    async def cut_peers(self) -> None:
        """Keep a member from all others, and from users."""
        index = self._someone()
        if index is None:
            return
        name, seconds = self._town.runs[index].name, self._rng.uniform(5.0, 60.0)
        self.tell(f"cut {index} off the others for {seconds:.0f} s")
        self._town.network.cut.add(name)

        async def mend() -> None:
            self._town.network.cut.discard(name)

        self._later(seconds, mend)

    async def cut_prometheus(self) -> None:
        """Keep one member, or everybody, from Prometheus."""
        town, seconds = self._town, self._rng.uniform(5.0, 60.0)
        index = self._someone()
        if index is None or self._rng.randrange(2):
            self.tell(f"Prometheus is down for {seconds:.0f} s")
            town.prometheus.is_down = True

            async def mend_all() -> None:
                town.prometheus.is_down = False

            return self._later(seconds, mend_all)
        name = town.runs[index].name
        self.tell(f"cut {index} off Prometheus for {seconds:.0f} s")
        town.without_prometheus.add(name)

        async def mend() -> None:
            town.without_prometheus.discard(name)

        return self._later(seconds, mend)

    async def clock(self) -> None:
        """Set a member's clock wrong, or right again."""
        index = self._someone()
        if index is None:
            return
        offset_s = self._rng.choice((0.0, self._rng.uniform(-OFFSET_S_MAX, OFFSET_S_MAX)))
        self.tell(f"clock of {index} off by {offset_s:.1f} s")
        self._town.offsets_s[index] = offset_s
        self._town.runs[index].calendar.offset_s = offset_s

    async def wipe(self) -> None:
        """Empty the store."""
        self.tell("wipe the store")
        self._town.wipe()

    async def down(self) -> None:
        """Let nobody reach the store."""
        seconds = self._rng.uniform(5.0, 60.0)
        self.tell(f"the store is down for {seconds:.0f} s")
        self._town.site.is_down = True

        async def mend() -> None:
            self._town.site.is_down = False

        self._later(seconds, mend)

    def _someone(self) -> int | None:
        alive = sorted(index for index, run in self._town.runs.items() if not run.is_frozen)
        return self._rng.choice(alive) if alive else None

    async def _restart(self, index: int) -> None:
        town = self._town
        if index <= town.scaler.replicas and index not in town.runs:
            self.tell(f"start {index} again")
            await town.start(index)

    async def _thaw(self, index: int) -> None:
        self._town.thaw(index)

    def _later(self, seconds: float, mend: Callable[[], Awaitable[None]]) -> None:
        async def wait() -> None:
            await asyncio.sleep(seconds)
            await mend()

        task = asyncio.create_task(wait())
        self._mending.add(task)
        task.add_done_callback(self._mending.discard)


BREAKS: Final[dict[str, tuple[Break, ...]]] = {
    "kill": (Weather.kill, Weather.kill),
    "pause": (Weather.pause,),
    "partition": (Weather.cut_store, Weather.cut_peers, Weather.cut_prometheus, Weather.down),
    "clock": (Weather.clock,),
    "wipe": (Weather.wipe,),
}
