"""What the contract of stores is tried with: a site where stores meet, and a hand that breaks it.

A `World` says where a site comes from and in which time its scenes play: in virtual time for what lives in
memory, in real time for real servers. `Heard` keeps what one follower was told, in order.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias, TypeVar

import msgspec

from springtide.edge.store import (
    ABSENT,
    Held,
    LockRead,
    MembersRead,
    Offer,
    RecordsRead,
    StatusDamaged,
    StatusRead,
    Store,
    StoreTold,
)
from springtide.model.replicas.member import Member, Record
from springtide.model.replicas.status import Status

T = TypeVar("T", bound=StoreTold)

LOOKS: Final = 200
FREE: Final = LockRead(ABSENT)
LABELS: Final = {"tier": "gold", "zone": "b"}


class Traits(msgspec.Struct, frozen=True, kw_only=True):
    """How fast a site is, and what it is.

    `has_leases`: a member that is not heard for `member_ttl_s` is gone for all others. `lock_ttl_ms` is the
    shortest lock that it grants, `confirm_s` how often it confirms, `patience_s` how long anything may take.
    """

    patience_s: float
    member_ttl_s: float
    lock_ttl_ms: int
    confirm_s: float
    has_leases: bool = True


class Site(Protocol):
    """Where the stores of the members of one workload meet, and what may happen there."""

    @property
    def traits(self) -> Traits: ...

    async def store(self, name: str) -> Store:
        """Return a store for the member of this name; one that was made before stays as it is."""
        ...

    async def kill(self, name: str) -> None:
        """Let the place of a member end, whose store nobody follows any more; it says nothing."""
        ...

    async def cut(self, name: str) -> None:
        """Let all stores of this name reach nothing until healed."""
        ...

    async def heal(self, name: str) -> None:
        """Undo `cut`."""
        ...

    async def stop(self) -> None:
        """Stop the server."""
        ...

    async def start(self) -> None:
        """Start the server again, with all that it had."""
        ...

    async def wipe(self) -> None:
        """Lose all that is stored; the server is there again afterwards."""
        ...

    async def compact(self) -> bool:
        """Forget how things came about, and return whether there is such a thing here."""
        ...

    async def damage(self, text: bytes) -> None:
        """Write this in the place of the status, as somebody who knows nothing of locks."""
        ...

    async def erase(self) -> None:
        """Delete the status, as an operator might."""
        ...

    async def writes(self) -> int:
        """Return a number that grows with every write of anything."""
        ...


Scene: TypeAlias = Callable[[Site], Coroutine[Any, Any, None]]
Play: TypeAlias = Callable[[Scene], None]


class World(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of store; `missing` says what it lacks on this machine, if anything."""

    name: str
    site: Callable[[Path], AbstractAsyncContextManager[Site]]
    run: Callable[[Coroutine[Any, Any, None]], None]
    missing: str = ""

    def play(self, scene: Scene, folder: Path) -> None:
        """Play a scene at a new site."""

        async def played() -> None:
            async with self.site(folder) as site:
                await scene(site)

        self.run(played())


class Heard:
    """What one follower was told."""

    def __init__(self, patience_s: float) -> None:
        self.told: list[StoreTold] = []
        self._patience_s = patience_s
        self._more = asyncio.Event()

    def __call__(self, told: StoreTold) -> None:
        """Keep it."""
        self.told.append(told)
        self._more.set()

    @property
    def mark(self) -> int:
        """How much was told so far."""
        return len(self.told)

    def all(self, kind: type[T], *, since: int = 0) -> list[T]:
        """Return all of a kind."""
        return [each for each in self.told[since:] if isinstance(each, kind)]

    async def hears(
        self, kind: type[T], is_so: Callable[[T], bool] = lambda _: True, *, since: int = 0
    ) -> T:
        """Return the first one after a mark, as soon as there is one."""

        def found() -> T | None:
            return next(filter(is_so, self.all(kind, since=since)), None)

        await self._until(lambda: found() is not None, f"no such {kind.__name__} was told")
        first = found()
        assert first is not None
        return first

    async def settles(self, kind: type[T], is_so: Callable[[T], bool]) -> T:
        """Return the last one as soon as it is as wanted."""

        def fits() -> bool:
            return any(is_so(each) for each in self.all(kind)[-1:])

        await self._until(fits, f"the last {kind.__name__} is another one")
        return self.all(kind)[-1]

    async def _until(self, is_so: Callable[[], bool], else_what: str) -> None:
        try:
            async with asyncio.timeout(self._patience_s):
                while not is_so():
                    self._more.clear()
                    await self._more.wait()
        except TimeoutError:
            told = "\n".join(map(str, self.told))
            raise AssertionError(f"{else_what}; there was:\n{told}") from None


@asynccontextmanager
async def following(site: Site, store: Store) -> AsyncIterator[Heard]:
    """Follow a store as long as the block."""
    heard = Heard(site.traits.patience_s)
    task = asyncio.create_task(store.follow(heard))
    try:
        yield heard
    finally:
        assert not task.done(), f"it ended by itself: {task}"
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def eventually(is_so: Callable[[], Awaitable[bool]], *, patience_s: float) -> None:
    """Wait until something holds that nobody tells."""
    for _ in range(LOOKS):
        if await is_so():
            return
        await asyncio.sleep(patience_s / LOOKS)
    raise AssertionError(f"it does not hold within {patience_s:g} s")


def member(name: str, **facts: Any) -> Member:
    """Return a member whose id is in its name."""
    made = {"id": int(name.rpartition("-")[2]), "name": name, "boot": f"{name}/1", "target": "chat"}
    return Member(**{**made, **facts})


def status(expect: int, generation: int = 1, **facts: Any) -> Status:
    """Return a status that wants so many."""
    made = {"current": 1, "expect": expect, "start_ms": 1_000, "end_ms": 2_000, "scaling_ms": 3_000}
    return Status(**{**made, "generation": generation, **facts})


def record(name: str, boot: str = "") -> Record:
    """Return the record of a member."""
    return Record(member=name, boot=boot or f"{name}/1", at_ms=1_700_000_000_000)


async def held(site: Site, store: Store, holder: str = "chat-0") -> Held:
    """Return the lock, which is free or soon will be."""
    taken: list[Held] = []

    async def is_taken() -> bool:
        found = await store.acquire(holder, ttl_ms=site.traits.lock_ttl_ms)
        taken.extend([] if found is None else [found])
        return bool(taken)

    await eventually(is_taken, patience_s=site.traits.patience_s)
    return taken[0]


async def written(store: Store, token: int, document: Status) -> int:
    """Write a status over what is there, and return its revision."""
    there = await store.read_status()
    return await store.put_status(Offer(token=token, revision=there.revision, status=document))


def names(read: MembersRead) -> list[str]:
    """Return who is there."""
    return [each.name for each in read.members]


def repeats(heard: Heard) -> list[StoreTold]:
    """Return what was told though nothing had changed since it was told before."""
    found: list[StoreTold] = []
    for kinds in ((StatusRead, StatusDamaged), (MembersRead,), (RecordsRead,), (LockRead,)):
        told = [each for each in heard.told if isinstance(each, kinds)]
        found += [after for before, after in pairwise(told) if before == after]
    return found
