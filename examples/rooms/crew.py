"""Members as processes on this machine: started, asked, signalled and broken."""

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal, Never

import aiohttp
import msgspec

from examples.rooms.places import Place
from examples.rooms.scaler import Exported, Scaler
from examples.rooms.settings import name_of
from examples.rooms.state import State
from examples.rooms.switches import Switches
from examples.rooms.users import Users
from examples.rooms.weather import Cut
from springtide.base.errors import SpringtideError

LOOK_S: Final = 0.3
LOOK_S_MAX: Final = 1.0
START_S_MAX: Final = 20.0
GRACE_S: Final = 60.0
ROOT: Final = Path(__file__).resolve().parents[2]


class NotStarted(SpringtideError):
    """A member ended before it said where it listens; its log says why."""


class Process:
    """One run of a member."""

    def __init__(self, running: asyncio.subprocess.Process, address: str) -> None:
        self.running = running
        self.address = address
        self.is_frozen = False
        self.switches = Switches()
        self.state: State | None = None

    def signal(self, number: signal.Signals) -> None:
        """Send a signal; who has ended gets none."""
        with suppress(ProcessLookupError):
            self.running.send_signal(number)


class Crew:
    """All of them."""

    def __init__(self, folder: Path, place: Place, *, pace: float, members_max: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._place = place
        self._pace = pace
        self._members_max = members_max
        self._session = aiohttp.ClientSession()
        self._is_prometheus_down = False
        self.processes: dict[int, Process] = {}
        self._starting: set[int] = set()
        self.scaler: Scaler | None = None
        self.users: Users | None = None
        self.forced = 0

    @property
    def states(self) -> list[State]:
        """Return what the members that answer show."""
        found = (self.processes[index].state for index in sorted(self.processes))
        return [each for each in found if each is not None]

    def doors(self) -> Sequence[str]:
        """Return the addresses of those that may serve."""
        return [
            each.address
            for each in self.processes.values()
            if each.state is not None and each.state.is_ready
        ]

    async def watch(self) -> Never:
        """Ask every member what it shows, until cancelled."""
        while True:
            await asyncio.gather(*(self._look(each) for each in list(self.processes.values())))
            await asyncio.sleep(LOOK_S)

    async def _look(self, process: Process) -> None:
        try:
            async with asyncio.timeout(LOOK_S_MAX):
                async with self._session.get(f"http://{process.address}/state") as response:
                    process.state = msgspec.json.decode(await response.read(), type=State)
        except (aiohttp.ClientError, OSError, TimeoutError, msgspec.MsgspecError):
            process.state = None

    # -- the autoscaler

    def exported(self) -> list[Exported]:
        """Return what can be seen of all members."""
        if self._is_prometheus_down:
            return []
        return [Exported(each.expected, each.stateful_index) for each in self.states]

    async def start(self, index: int) -> None:
        """Start a member, and wait until it listens; whoever is being started is not started twice."""
        if index in self._starting or index in self.processes:
            return
        self._starting.add(index)
        try:
            self.processes[index] = await self._started(index)
        finally:
            self._starting.discard(index)

    async def _started(self, index: int) -> Process:
        log = os.open(self._log(index), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            running = await asyncio.create_subprocess_exec(
                *await self._command(index), stdout=asyncio.subprocess.PIPE, stderr=log, cwd=ROOT
            )
        finally:
            os.close(log)
        assert running.stdout is not None
        try:
            async with asyncio.timeout(START_S_MAX):
                address = (await running.stdout.readline()).decode().strip()
        except BaseException:
            # Whoever gives up on it must not leave it behind: it would keep the journal to itself.
            running.kill()
            await running.wait()
            raise
        if not address:
            code = await running.wait()
            raise NotStarted(f"Member {index} ended with {code} at once: {self._last_words(index)}")
        return Process(running, address)

    def _log(self, index: int) -> Path:
        return self._folder / f"{name_of(index)}.log"

    def _last_words(self, index: int) -> str:
        words = self._log(index).read_text(errors="replace").strip()
        return words.rpartition("\n")[2] or "it said nothing."

    async def _command(self, index: int) -> list[str]:
        replicas = self.scaler.replicas if self.scaler is not None else index
        said = {
            "index": index,
            "disk": self._folder,
            "store": await self._place.way(name_of(index)),
            "pace": self._pace,
            "members-max": self._members_max,
            "replicas": replicas,
            "grace": GRACE_S,
        }
        words = [word for name, value in said.items() for word in (f"--{name}", str(value))]
        return [sys.executable, "-m", "examples.rooms.process", *words]

    async def stop(self, index: int) -> None:
        """Tell a member to leave, and wait until it has ended."""
        process = self.processes.get(index)
        if process is None:
            return
        process.signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(GRACE_S):
                await process.running.wait()
        except TimeoutError:
            self.forced += 1
            process.signal(signal.SIGKILL)
            await process.running.wait()
        if self.processes.get(index) is process:
            del self.processes[index]

    # -- the weather

    @property
    def living(self) -> list[int]:
        """Return the numbers of those that run and do not stand still."""
        return sorted(index for index, each in self.processes.items() if not each.is_frozen)

    async def kill(self, index: int) -> None:
        """End a member by SIGKILL."""
        process = self.processes.pop(index)
        process.signal(signal.SIGKILL)
        await process.running.wait()

    async def start_again(self, index: int) -> None:
        """Start a member that was killed, if it has still a place."""
        assert self.scaler is not None
        if index <= self.scaler.replicas and index not in self.processes:
            await self.start(index)

    def freeze(self, index: int) -> None:
        """Let a member stand still by SIGSTOP."""
        self.processes[index].is_frozen = True
        self.processes[index].signal(signal.SIGSTOP)

    def thaw(self, index: int) -> None:
        """Let it go on by SIGCONT."""
        process = self.processes.get(index)
        if process is not None:
            process.is_frozen = False
            process.signal(signal.SIGCONT)

    async def cut(self, index: int, what: Cut, *, is_cut: bool) -> None:
        """Cut a member off the store, its peers or Prometheus, or let it in again."""
        process = self.processes.get(index)
        if what == "store":
            self._place.cut(name_of(index), is_cut=is_cut)
        elif process is not None:
            if what == "peers":
                process.switches.cut_peers = is_cut
            else:
                process.switches.cut_prometheus = is_cut
            await self._switch(process)

    async def set_clock(self, index: int, offset_s: float) -> None:
        """Set a member's clock wrong."""
        process = self.processes[index]
        process.switches.clock_offset_s = offset_s
        await self._switch(process)

    async def _switch(self, process: Process) -> None:
        body = msgspec.json.encode(process.switches)
        with suppress(aiohttp.ClientError, OSError, TimeoutError):
            async with asyncio.timeout(LOOK_S_MAX):
                async with self._session.post(
                    f"http://{process.address}/switches", data=body
                ) as response:
                    await response.read()

    async def wipe(self) -> None:
        """Empty the store."""
        await self._place.wipe()

    def down(self, what: Literal["store", "prometheus"], *, is_down: bool) -> None:
        """Let nobody reach the store, or let nobody know how many are wanted."""
        if what == "store":
            self._place.down(is_down=is_down)
        else:
            self._is_prometheus_down = is_down

    async def mend(self) -> None:
        """Mend everything, and start who should run."""
        assert self.scaler is not None
        self.down("store", is_down=False)
        self.down("prometheus", is_down=False)
        for index in range(1, self._members_max + 1):
            self._place.cut(name_of(index), is_cut=False)
        for index, process in list(self.processes.items()):
            self.thaw(index)
            process.switches = Switches()
            await self._switch(process)
        for index in range(1, self.scaler.replicas + 1):
            await self.start_again(index)

    def crowd(self, people: int) -> None:
        """Let so many people be there."""
        assert self.users is not None
        self.users.crowd(people)

    async def close(self) -> None:
        """End all processes at once; their journals stay."""
        for process in self.processes.values():
            process.signal(signal.SIGKILL)
            await process.running.wait()
        await self._session.close()
