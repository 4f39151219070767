"""Members without ordinals claim numbers in a real etcd, and share values of a discovery."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

import pytest

from springtide.edge.machine import MachineCalendar, MachineClock, SeededRng
from springtide.edge.store.etcd import EtcdAccess, EtcdStore, Pace
from springtide.edge.store.etcd.shapes import get
from springtide.replicas import Discovery, Identity, ReplicaController
from tests.etcds import MISSING, Etcd, program, running
from tests.members import Lines, Told
from tests.unit.replicas.test_numbering import ALLOCATED

PACE: Final = Pace(member_ttl_s=2.0, confirm_s=1.0, again_s_min=0.1, again_s_max=0.4)
PATIENCE_S: Final = 20.0
LOOKS: Final = 400
NUMBER: Final = "/atapp/hpa/default/StatefulSet/apps/v1/chat/.index/1"
VALUES: Final = "/atapp/hpa/custom/StatefulSet/apps/v1/chat/matches"

pytestmark = pytest.mark.skipif(program() is None, reason=MISSING)


class Members:
    """Controllers of one workload, each with a store of its own."""

    def __init__(self, etcd: Etcd, stack: AsyncExitStack) -> None:
        self._etcd = etcd
        self._stack = stack
        self.living: dict[str, ReplicaController] = {}

    async def come(self, name: str) -> ReplicaController:
        """Start one."""
        access = EtcdAccess(endpoints=(self._etcd.url,), timeout_s=2.0, pace=PACE)
        store = EtcdStore(access, ALLOCATED.workload, rng=SeededRng(len(self.living)))
        one = ReplicaController(
            ALLOCATED,
            Identity(name=name, service="chat"),
            store=await self._stack.enter_async_context(store),
            clock=MachineClock(),
            calendar=MachineCalendar(),
            log=Lines(),
        )
        self.living[name] = one
        await one.start()
        return one

    async def kill(self, name: str) -> None:
        """End one without a word."""
        running = self.living.pop(name)._running  # noqa: SLF001 - nothing public kills
        assert running is not None
        running.cancel()
        await asyncio.wait([running])

    @property
    def numbers(self) -> dict[str, int | None]:
        """Return the numbers of those who live."""
        return {name: each.snapshot().index for name, each in self.living.items()}

    async def until(self, **numbers: int) -> None:
        """Wait until these are the numbers."""
        await until(lambda: self.numbers == numbers, lambda: str(self.numbers))


async def until(is_so: Callable[[], bool], told: Callable[[], str]) -> None:
    """Wait until something holds."""
    for _ in range(LOOKS):
        if is_so():
            return
        await asyncio.sleep(PATIENCE_S / LOOKS)
    raise AssertionError(told())


@asynccontextmanager
async def members(folder: Path) -> AsyncIterator[tuple[Etcd, Members]]:
    """An etcd, and members that end with the block."""
    async with running(folder) as etcd, AsyncExitStack() as stack:
        found = Members(etcd, stack)
        try:
            yield etcd, found
        finally:
            for each in found.living.values():
                await each.close()


def test_members_keep_their_numbers_while_others_come_leave_and_die(tmp_path: Path) -> None:
    """Covers R-33. B-17."""

    async def work() -> None:
        async with members(tmp_path) as (_, found):
            await asyncio.gather(*(found.come(each) for each in ("zoe", "max", "ann")))
            await until(lambda: set(found.numbers.values()) == {1, 2, 3}, lambda: "none")
            first = {index: name for name, index in found.numbers.items()}
            await found.living.pop(first[1]).close()
            await found.kill(first[2])
            await found.come("bob")
            await found.until(**{first[3]: 3, "bob": 1})
            await asyncio.sleep(2 * PACE.member_ttl_s)

            await found.come("eve")
            await found.until(**{first[3]: 3, "bob": 1, "eve": 2})

    asyncio.run(work())


def test_a_member_that_starts_again_at_once_has_its_number_for_good(tmp_path: Path) -> None:
    """The lease of the run before it is not what it lives by."""

    async def work() -> None:
        async with members(tmp_path) as (etcd, found):
            await found.come("zoe")
            await found.until(zoe=1)
            (before,) = (await etcd.do(get(NUMBER))).found[0].kvs
            await found.kill("zoe")
            await found.come("zoe")
            await found.until(zoe=1)
            await asyncio.sleep(2 * PACE.member_ttl_s)

            (after,) = (await etcd.do(get(NUMBER))).found[0].kvs
            assert after.mod_revision > before.mod_revision
            await found.come("max")
            await found.until(zoe=1, max=2)

    asyncio.run(work())


def test_numbers_outlive_an_etcd_that_stops_and_one_that_loses_its_disk(tmp_path: Path) -> None:
    """F-17 and F-18."""

    async def work() -> None:
        async with members(tmp_path) as (etcd, found):
            await found.come("zoe")
            await found.until(zoe=1)
            await found.come("max")
            await found.until(zoe=1, max=2)
            await etcd.stop()
            await asyncio.sleep(PACE.member_ttl_s)
            await etcd.start()
            await asyncio.sleep(PACE.member_ttl_s)
            await found.until(zoe=1, max=2)
            await etcd.wipe()
            await asyncio.sleep(PACE.member_ttl_s)

            await found.come("ann")
            await found.until(zoe=1, max=2, ann=3)

    asyncio.run(work())


def test_a_value_of_a_discovery_is_found_under_its_key_and_told_to_others(tmp_path: Path) -> None:
    """Covers R-51. B-8."""

    def nothing(discovery: Discovery) -> None:
        discovery.reset()

    async def work() -> None:
        async with members(tmp_path) as (etcd, found):
            ours, theirs = [await found.come(each) for each in ("zoe", "max")]
            told = Told()
            theirs.create_discovery("matches", nothing).on_changed(None, told)
            discovery = ours.create_discovery("matches", nothing)
            revision = await discovery.set_value("8", "eu/limit").durable()
            await until(lambda: told.all == [("eu/limit", "8")], lambda: str(told.all))
            answer = await etcd.do(get(f"{VALUES}/eu/limit"))
            (kept,) = answer.found[0].kvs
            assert (kept.value, kept.mod_revision) == (b"8", revision)

            await discovery.set_value("", "eu/limit").durable()
            await until(lambda: told.all[1:] == [("eu/limit", "")], lambda: str(told.all))

    asyncio.run(work())
