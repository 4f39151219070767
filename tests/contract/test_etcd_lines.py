"""What the store in etcd does when its lines break or go silent, tried on a real one."""

import asyncio
from pathlib import Path

import msgspec
import pytest

from springtide.edge.store import (
    ABSENT,
    Away,
    Confirmed,
    Offer,
    RecordsRead,
    StatusRead,
)
from springtide.edge.store.etcd import EtcdAccess
from springtide.edge.store.etcd.gateway import Gateway
from springtide.edge.store.etcd.shapes import delete, put
from springtide.edge.store.etcd.spans import Span
from springtide.edge.store.etcd.watching import Compacted, watched
from springtide.wire.replica_members import write_record
from tests.contract.etcdsite import KEYS, PACE, PATIENCE_S, followed, store_at
from tests.contract.stores import eventually, record, repeats, status
from tests.etcds import MISSING, Etcd, program, running
from tests.tcpproxy import Line, Mode, line

pytestmark = pytest.mark.skipif(not program(), reason=MISSING)

WATCH = b"/v3/watch"


def test_an_endpoint_that_is_dead_is_passed_by(tmp_path: Path) -> None:
    async def scene() -> None:
        async with running(tmp_path) as etcd, line(etcd.port) as first, line(etcd.port) as second:
            dead = "http://127.0.0.1:1"
            lines = [f"http://127.0.0.1:{each.port}" for each in (first, second)]
            store = store_at(dead, *lines)
            async with followed(store) as heard:
                await heard.hears(Confirmed)
                assert heard.all(Away) == []
                first.turn(Mode.REFUSE)
                await store_written(etcd, 2)

                await heard.settles(StatusRead, lambda read: read.status == status(2))
                assert second.connected

    asyncio.run(scene())


async def store_written(etcd: Etcd, expect: int) -> None:
    async with store_at(etcd.url) as other:
        await other.put_status(Offer(token=ABSENT, revision=ABSENT, status=status(expect)))


async def watching(
    way: Line, *, other_than: frozenset[asyncio.StreamWriter] = frozenset()
) -> frozenset[asyncio.StreamWriter]:
    """Return the connections of watches, as soon as there is one."""

    async def is_so() -> bool:
        return bool(way.saying(WATCH) - other_than)

    await eventually(is_so, patience_s=PATIENCE_S)
    return way.saying(WATCH)


@pytest.mark.parametrize("is_frozen", [True, False])
def test_a_line_that_went_silent_is_found_out_and_given_up(
    tmp_path: Path,
    is_frozen: bool,  # noqa: FBT001
) -> None:
    async def scene() -> None:
        async with (
            running(tmp_path) as etcd,
            line(etcd.port) as way,
            followed(store_at(f"http://127.0.0.1:{way.port}")) as heard,
        ):
            await watching(way)
            if is_frozen:
                way.freeze()
            else:
                way.turn(Mode.SWALLOW)
                await heard.hears(Away)
            await store_written(etcd, 2)
            if not is_frozen:
                way.turn(Mode.PASS)

            await heard.settles(StatusRead, lambda read: read.status == status(2))

    asyncio.run(scene())


def test_a_watch_that_went_silent_alone_is_found_out_by_what_is_read(tmp_path: Path) -> None:
    async def scene() -> None:
        async with (
            running(tmp_path) as etcd,
            line(etcd.port) as way,
            followed(store_at(f"http://127.0.0.1:{way.port}")) as heard,
        ):
            watches = await watching(way)
            way.freeze(WATCH)
            await store_written(etcd, 2)
            await heard.settles(StatusRead, lambda read: read.status == status(2))

            await watching(way, other_than=watches)
            assert heard.all(Away) == []

    asyncio.run(scene())


def test_what_was_forgotten_before_it_was_watched_is_read_anew(tmp_path: Path) -> None:
    """Covers R-52. F-19."""
    pace = msgspec.structs.replace(PACE, confirm_s=60.0)

    async def scene() -> None:
        async with running(tmp_path) as etcd, line(etcd.port) as way:
            await etcd.do(put(KEYS.record(1), write_record(record("chat-1"))))
            way.hold(WATCH)
            store = store_at(f"http://127.0.0.1:{way.port}", pace=pace, timeout_s=20.0)
            async with followed(store) as heard:
                await watching(way)
                await store_written(etcd, 2)
                await etcd.do(delete(KEYS.record(1)))
                await etcd.compact()
                assert heard.all(StatusRead) == [StatusRead(status=None)]
                way.let()
                await heard.settles(StatusRead, lambda read: read.status == status(2))
                await heard.settles(RecordsRead, lambda read: not read.records)

                assert heard.all(Away) == []
                assert repeats(heard) == []

    asyncio.run(scene())


def test_a_watch_of_what_was_forgotten_says_so(tmp_path: Path) -> None:
    async def scene() -> None:
        async with running(tmp_path) as etcd:
            for each in range(3):
                await etcd.do(put("/a", str(each)))
            await etcd.compact()
            gateway = Gateway(EtcdAccess(endpoints=(etcd.url,)))
            with pytest.raises(Compacted):
                async for _ in watched(gateway, (Span("/a"),), (1,)):
                    pass
            await gateway.close()

    asyncio.run(scene())
