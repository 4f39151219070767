"""A town of virtual members with everything around them: a store, a network, disks, Prometheus and users."""

import asyncio
import contextvars
from collections.abc import Sequence
from decimal import Decimal
from random import Random
from typing import Final, Literal

import msgspec

from examples.rooms.book import Line as Written
from examples.rooms.member import Member
from examples.rooms.scaler import Exported, Scaler
from examples.rooms.settings import down_window_s, name_of, settings
from examples.rooms.users import Users
from examples.rooms.weather import Cut
from examples.rooms.world import World
from springtide.edge.store import MemoryStore
from springtide.model.replicas.answer import Answer, Answered, Sample, Series, Unreachable
from springtide.replicas import Identity, ReadyChanged
from tests.members import LoopCalendar
from tests.rooms.freezing import OWNER, freezing_loop
from tests.rooms.invariants import Input, WatchedSite, Witness, Wrongs
from tests.rooms.network import Line, Network, Served
from tests.virtual import LoopClock

SETTINGS: Final = settings()
GRACE_S: Final = 600.0


class Disk:
    """The lines of one member; outlives its runs. A run that has ended writes nothing more."""

    def __init__(self, name: str, witness: Witness) -> None:
        self._name = name
        self._witness = witness
        self.kept: list[Written] = []

    def write(self, line: Written) -> None:
        """Keep a line."""
        self._witness.see(self._name, line)
        self.kept.append(line)


class DiskOfRun:
    """What one run has of a disk."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self.is_dead = False

    def lines(self) -> list[Written]:
        """Return all lines."""
        return list(self._disk.kept)

    def append(self, line: Written) -> None:
        """Write one, if the run still lives."""
        if self.is_dead:
            raise OSError("this process has ended")
        self._disk.write(line)


class Prometheus:
    """Scrapes who can be scraped, and answers one leader or all of them, or nobody."""

    def __init__(self, town: "Town") -> None:
        self._town = town
        self.is_down = False

    def row(self, name: str, value: int) -> Series:
        """Return one row at the time of Prometheus."""
        at_ms = int(LoopCalendar().unix_s() * 1000)
        return Series({"hpa_q": name}, (Sample(at_ms, Decimal(value)),))


class Asking:
    """How one member asks Prometheus."""

    def __init__(self, town: "Town", name: str) -> None:
        self._town = town
        self._name = name

    async def answer(self, text: str) -> Answer:
        """Return the people in all rooms that are seen."""
        del text
        await asyncio.sleep(0.01)
        town = self._town
        if town.prometheus.is_down or self._name in town.without_prometheus:
            town.note_input(self._name, is_known=False)
            return Unreachable("the network is cut")
        seen = [each for each in town.runs.values() if each.is_scraped]
        people = sum(each.member.holding.book.people for each in seen)
        town.note_input(self._name, is_known=True)
        rows = (("v", people), ("n", len(seen)), ("age", 1))
        return Answered(series=tuple(town.prometheus.row(*each) for each in rows))


class Run:
    """One run of one member."""

    def __init__(self, town: "Town", index: int, *, offset_s: float) -> None:
        self.index = index
        self.name = name_of(index)
        town.boots += 1
        self.owner = f"{self.name}#{town.boots}"
        self.is_frozen = False
        self._wrongs = town.wrongs
        self._begun_s = LoopClock().monotonic_s()
        self.disk = DiskOfRun(town.disk(self.name))
        self.line = Line(town.network, self.name)
        self.store = MemoryStore(town.site, replicas=lambda: town.scaler.replicas)
        self.context = contextvars.Context()
        self.context.run(OWNER.set, self.owner)
        self.calendar = LoopCalendar(offset_s)
        world = World(
            store=self.store,
            clock=LoopClock(),
            calendar=self.calendar,
            log=self._log,
            journal=self.disk,
            peers=self.line,
            metrics=Asking(town, self.name),
            drawn_permille=lambda: town.jitter.randrange(1001),
        )
        identity = Identity(name=self.name, index=index, service="rooms", address=self.name)
        self.member = Member(identity, SETTINGS, world)
        self.member.controller.subscribe("ready_changed", self._ready_changed)

    @property
    def is_scraped(self) -> bool:
        """Return whether Prometheus can see it."""
        return not self.is_frozen

    def _log(self, event: str, *, is_fault: bool = False, **facts: object) -> None:
        """Keep what no weather may bring about."""
        del is_fault
        if event in {"bug", "listener_failed"}:
            self._wrongs.tell(f"{self.name}: {event} {facts}")

    def _ready_changed(self, told: ReadyChanged) -> None:
        if not told.is_ready and self.member.holding.book.owned:
            self._wrongs.tell(f"{self.name} left Ready with {self.member.draining.left()}.")

    def has_lived(self, seconds: float) -> bool:
        """Return whether it was started so long ago."""
        return LoopClock().monotonic_s() - self._begun_s >= seconds


class Town:
    """All of it."""

    def __init__(self, seed: int, *, members: int) -> None:
        self.rng = Random(seed)
        self.jitter = Random(seed + 4)
        self.wrongs = Wrongs()
        self.witness = Witness(self.wrongs)
        self.network = Network(Random(seed + 1))
        self.site = WatchedSite(LoopClock())
        self.site.inputs = Input()
        self.site.wrongs = self.wrongs
        self.prometheus = Prometheus(self)
        self.without_prometheus: set[str] = set()
        self.runs: dict[int, Run] = {}
        self.boots = 0
        self.offsets_s: dict[int, float] = {}
        self._disks: dict[str, Disk] = {}
        self.scaler = Scaler(self, LoopClock(), replicas=members, down_window_s=down_window_s())
        self.users = Users(
            Line(self.network, "users"), self.doors, clock=LoopClock(), rng=Random(seed + 2)
        )

    def disk(self, name: str) -> Disk:
        """Return the disk of a member."""
        return self._disks.setdefault(name, Disk(name, self.witness))

    def doors(self) -> Sequence[str]:
        """Return who may serve, as the store's labels say it; the last that were known if it is away."""
        return [
            each.name
            for each in self.runs.values()
            if each.member.controller.is_ready() and not each.is_frozen
        ]

    def note_input(self, name: str, *, is_known: bool) -> None:
        """Take note of what a leader was answered."""
        known = self.site.inputs.known_since_s
        if not is_known:
            known.pop(name, None)
        else:
            known.setdefault(name, LoopClock().monotonic_s())

    # -- the weather

    @property
    def living(self) -> list[int]:
        """Return the numbers of those that run and do not stand still."""
        return sorted(index for index, run in self.runs.items() if not run.is_frozen)

    async def start_again(self, index: int) -> None:
        """Start a member that was killed, if it has still a place."""
        if index <= self.scaler.replicas and index not in self.runs:
            await self.start(index)

    async def cut(self, index: int, what: Cut, *, is_cut: bool) -> None:
        """Cut a member off, or let it in again; a run that has ended stays cut off from the store."""
        name, run = name_of(index), self.runs.get(index)
        if what == "store":
            if run is not None:
                run.store.is_cut = is_cut
            return
        cut = self.network.cut if what == "peers" else self.without_prometheus
        (cut.add if is_cut else cut.discard)(name)

    async def set_clock(self, index: int, offset_s: float) -> None:
        """Set a member's clock wrong, for its next runs, too."""
        self.offsets_s[index] = offset_s
        self.runs[index].calendar.offset_s = offset_s

    async def wipe(self) -> None:
        """Empty the store."""
        self.site.wipe()

    def down(self, what: Literal["store", "prometheus"], *, is_down: bool) -> None:
        """Let nobody reach the store or Prometheus."""
        if what == "store":
            self.site.is_down = is_down
        else:
            self.prometheus.is_down = is_down

    async def mend(self) -> None:
        """Mend everything, and start who should run."""
        self.site.is_down = self.prometheus.is_down = False
        self.network.cut.clear()
        self.without_prometheus.clear()
        self.offsets_s.clear()
        for index, run in list(self.runs.items()):
            run.store.is_cut = False
            run.calendar.offset_s = 0.0
            self.thaw(index)
        for index in range(1, self.scaler.replicas + 1):
            await self.start_again(index)

    def crowd(self, people: int) -> None:
        """Let so many people be there."""
        self.users.crowd(people)

    # -- the hosts of the scaler

    def exported(self) -> list[Exported]:
        """Return what Prometheus has of each member."""
        if self.prometheus.is_down:
            return []
        found = []
        for each in self.runs.values():
            if each.is_scraped:
                shown = each.member.controller.snapshot()
                found.append(Exported(shown.expected, shown.stateful_index))
        return found

    async def start(self, index: int) -> None:
        """Start a member."""
        run = Run(self, index, offset_s=self.offsets_s.get(index, 0.0))
        self.runs[index] = run
        self.network.serve(run.name, Served(run.member.answer, run.context))
        loop = asyncio.get_running_loop()
        await loop.create_task(run.member.start(), context=run.context)

    async def stop(self, index: int) -> None:
        """Ask a member to leave, and wait until it is gone."""
        run = self.runs.get(index)
        name = name_of(index)
        if run is None:
            if self.witness.held.get(name):
                self.wrongs.tell(f"{name} was scaled away while it was down and held rooms.")
            return
        loop = asyncio.get_running_loop()
        leaving = loop.create_task(run.member.leave(timeout_s=GRACE_S), context=run.context)
        await asyncio.wait([leaving])
        if self.runs.get(index) is run:
            if run.member.holding.book.owned:
                self.wrongs.tell(f"{run.name} was ended with {run.member.draining.left()}.")
            self.network.unserve(run.name)
            del self.runs[index]

    async def kill(self, index: int) -> None:
        """End a member as SIGKILL does."""
        run = self.runs.pop(index)
        run.disk.is_dead = run.line.is_dead = True
        run.store.is_cut = True
        self.network.unserve(run.name)
        await freezing_loop().kill(run.owner)

    def freeze(self, index: int) -> None:
        """Let a member stand still, as SIGSTOP does."""
        run = self.runs[index]
        run.is_frozen = True
        freezing_loop().freeze(run.owner)

    def thaw(self, index: int) -> None:
        """Let it go on."""
        run = self.runs.get(index)
        if run is not None and run.is_frozen:
            run.is_frozen = False
            freezing_loop().thaw(run.owner)


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """How large a town is, and for how long it is watched."""

    members: int = 4
    rooms: int = 24
    users: int = 6
    seconds: float = 480.0
