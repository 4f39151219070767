"""What is particular to the store in etcd, tried on a real one."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
import trustme

from springtide.edge.machine import SeededRng
from springtide.edge.store import (
    ABSENT,
    Away,
    Confirmed,
    Denied,
    MembersRead,
    Offer,
    RecordsRead,
    StatusRead,
    Unreachable,
)
from springtide.edge.store.etcd import EtcdAccess, EtcdStore
from springtide.edge.store.etcd.gateway import Gateway
from springtide.edge.store.etcd.shapes import delete, get, put, span
from springtide.edge.store.etcd.spans import Span
from springtide.edge.store.etcd.watching import Compacted, watched
from springtide.model.scheduler import ExtenderTLSConfig
from springtide.wire.replica_keys import Place, keys
from tests.contract.etcdsite import PACE, WORKLOAD
from tests.contract.stores import Heard, member, names, record, status
from tests.etcds import MISSING, Etcd, Given, program, running
from tests.tcpproxy import Mode, line

pytestmark = pytest.mark.skipif(not program(), reason=MISSING)

PATIENCE_S = 20.0
KEYS = keys(Place(workload=WORKLOAD))
SERVICES = "/atapp/services/"


@asynccontextmanager
async def followed(store: EtcdStore) -> AsyncIterator[Heard]:
    heard = Heard(PATIENCE_S)
    async with store:
        task = asyncio.create_task(store.follow(heard))
        try:
            yield heard
        finally:
            task.cancel()
            await asyncio.wait([task])


def store_at(*endpoints: str, is_observing: bool = False, **facts: Any) -> EtcdStore:
    access = EtcdAccess(endpoints=endpoints, **{"timeout_s": 1.0, "pace": PACE, **facts})
    return EtcdStore(access, WORKLOAD, rng=SeededRng(1), is_observing=is_observing)


# ---------------------------------------------------------------------------- who we are


async def with_users(etcd: Etcd) -> None:
    """Let etcd ask for passwords; `chat` may what the documentation says, `nobody` nothing."""
    for name in ("root", "chat"):
        await etcd.tell("/v3/auth/role/add", {"name": name})
    for prefix in (KEYS.base, SERVICES):
        perm = {"permType": "READWRITE", **span(prefix, is_prefix=True)}
        await etcd.tell("/v3/auth/role/grant", {"name": "chat", "perm": perm})
    for name in ("root", "chat", "nobody"):
        await etcd.tell("/v3/auth/user/add", {"name": name, "password": f"{name}-password"})
    for name in ("root", "chat"):
        await etcd.tell("/v3/auth/user/grant", {"user": name, "role": name})
    await etcd.tell("/v3/auth/enable", {})


def test_a_user_shows_its_password_and_again_when_etcd_forgot_the_token(tmp_path: Path) -> None:
    secret = tmp_path / "password"
    secret.write_text("chat-password\n", encoding="utf-8")

    async def scene() -> None:
        async with running(tmp_path) as etcd:
            await with_users(etcd)
            store = store_at(etcd.url, user="chat", password_file=str(secret))
            async with followed(store) as heard:
                await store.join(member("chat-1"))
                await heard.settles(MembersRead, lambda read: names(read) == ["chat-1"])
                lock = await store.acquire("chat-1", ttl_ms=5_000)
                await etcd.stop()
                await heard.hears(Away)
                mark = heard.mark
                await etcd.start()
                await heard.hears(Confirmed, since=mark)
                assert lock is not None
                await store.renew(lock.token)

    asyncio.run(scene())


@pytest.mark.parametrize(
    ("user", "password", "words"),
    [
        ("chat", "wrong", "Correct the password"),
        ("nobody", "nobody-password", "a role with these keys"),
        ("", "", "Give user and passwordFile"),
    ],
)
def test_who_may_not_is_told_so_with_the_remedy(
    tmp_path: Path, user: str, password: str, words: str
) -> None:
    secret = tmp_path / "password"
    secret.write_text(password, encoding="utf-8")

    async def scene() -> None:
        async with running(tmp_path) as etcd:
            await with_users(etcd)
            file = str(secret) if user else ""
            store = store_at(etcd.url, user=user, password_file=file)
            async with followed(store) as heard:
                away = await heard.hears(Away)
                with pytest.raises(Denied):
                    await store.read_status()

                assert words in away.why

    asyncio.run(scene())


def test_a_user_is_not_needed_where_etcd_asks_nobody(tmp_path: Path) -> None:
    async def scene() -> None:
        async with running(tmp_path) as etcd:
            async with store_at(etcd.url, user="chat", password_file="/nowhere") as store:
                assert await store.read_status() == StatusRead(status=None)

    asyncio.run(scene())


def certified(folder: Path, name: str, authority: trustme.CA) -> ExtenderTLSConfig:
    """Write a pair by an authority, and return how a client shows it."""
    pair = authority.issue_cert("127.0.0.1", "localhost", common_name=name)
    cert, key = folder / f"{name}.pem", folder / f"{name}.key"
    pair.cert_chain_pems[0].write_to_path(str(cert))
    pair.private_key_pem.write_to_path(str(key))
    return ExtenderTLSConfig(ca_file=str(folder / "ca.pem"), cert_file=str(cert), key_file=str(key))


def test_a_member_shows_its_certificate_and_takes_a_new_one_without_a_restart(
    tmp_path: Path,
) -> None:
    authority, foreign = trustme.CA(), trustme.CA()
    ca = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(str(ca))
    server = certified(tmp_path, "server", authority)
    options = (
        f"--cert-file={server.cert_file}",
        f"--key-file={server.key_file}",
        f"--trusted-ca-file={ca}",
        "--client-cert-auth",
    )

    async def scene() -> None:
        async with running(tmp_path, Given(options=options, tls=server)) as etcd:
            store = store_at(etcd.url, tls=certified(tmp_path, "chat", foreign))
            async with followed(store) as heard:
                await heard.hears(Away)
                with pytest.raises(Unreachable):
                    await store.put_record(1, record("chat-1"))
                certified(tmp_path, "chat", authority)
                await heard.hears(Confirmed)
                await store.put_record(1, record("chat-1"))
                await heard.settles(RecordsRead, lambda read: 1 in read.records)

    asyncio.run(scene())


# ---------------------------------------------------------------------------- lines


def test_an_endpoint_that_is_dead_is_passed_by(tmp_path: Path) -> None:
    async def scene() -> None:
        async with running(tmp_path) as etcd, line(etcd.port) as first, line(etcd.port) as second:
            dead = "http://127.0.0.1:1"
            lines = [f"http://127.0.0.1:{each.port}" for each in (first, second)]
            store = store_at(dead, *lines)
            async with followed(store) as heard:
                await heard.hears(Confirmed)
                assert heard.all(Away) == []
                first.set(Mode.REFUSE)
                await store_written(etcd, 2)

                await heard.settles(StatusRead, lambda read: read.status == status(2))
                assert second.connected

    asyncio.run(scene())


async def store_written(etcd: Etcd, expect: int) -> None:
    async with store_at(etcd.url) as other:
        await other.put_status(Offer(token=ABSENT, revision=ABSENT, status=status(expect)))


@pytest.mark.parametrize("is_frozen", [True, False])
def test_a_line_that_went_silent_is_found_out_and_given_up(
    tmp_path: Path,
    is_frozen: bool,  # noqa: FBT001
) -> None:
    async def scene() -> None:
        async with running(tmp_path) as etcd, line(etcd.port) as way:
            async with followed(store_at(f"http://127.0.0.1:{way.port}")) as heard:
                await heard.hears(Confirmed)
                if is_frozen:
                    way.freeze()
                else:
                    way.set(Mode.SWALLOW)
                    await heard.hears(Away)
                await store_written(etcd, 2)
                if not is_frozen:
                    way.set(Mode.PASS)

                await heard.settles(StatusRead, lambda read: read.status == status(2))

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


def test_a_member_asks_little_while_nothing_happens(tmp_path: Path) -> None:
    async def scene() -> None:
        async with running(tmp_path) as etcd:
            # The shipped rhythm, six times as fast.
            pace = msgspec.structs.replace(PACE, member_ttl_s=15 / 6, confirm_s=20 / 6)
            store = store_at(etcd.url, pace=pace)
            async with followed(store) as heard:
                await store.join(member("chat-1"))
                await heard.hears(MembersRead, lambda read: names(read) == ["chat-1"])
                before = store.asked
                await asyncio.sleep(10.0)

                assert store.asked - before <= 60 * 0.3

    asyncio.run(scene())


# ---------------------------------------------------------------------------- keys


def test_a_status_keeps_the_form_of_times_that_older_members_gave_it(tmp_path: Path) -> None:
    older = b'{"expect_replicas": 2, "expect_scaling_timepoint": {"seconds": "3"}}'

    async def scene() -> None:
        async with running(tmp_path) as etcd, store_at(etcd.url) as store:
            await etcd.do(put(KEYS.status, older))
            there = await store.read_status()
            await store.put_status(
                Offer(token=ABSENT, revision=there.revision, status=status(4, 1))
            )
            (found,) = (await etcd.do(get(KEYS.status))).found[0].kvs

            document = msgspec.json.decode(found.value)
            assert document["expect_scaling_timepoint"] == {"seconds": 3, "nanos": 0}

    asyncio.run(scene())


def test_who_only_observes_decides_apart_from_those_who_act(tmp_path: Path) -> None:
    async def scene() -> None:
        async with running(tmp_path) as etcd, store_at(etcd.url) as acting:
            observing = store_at(etcd.url, is_observing=True)
            async with followed(observing) as heard:
                ours = await acting.acquire("chat-0", ttl_ms=5_000)
                theirs = await observing.acquire("chat-1", ttl_ms=5_000)
                assert ours is not None
                assert theirs is not None
                offer = Offer(token=theirs.token, revision=ABSENT, status=status(9))
                await observing.put_status(offer)
                await acting.put_record(3, record("chat-2"))
                await heard.settles(StatusRead, lambda read: read.status == status(9))
                await heard.settles(RecordsRead, lambda read: 3 in read.records)

                assert await acting.read_status() == StatusRead(status=None)

    asyncio.run(scene())


def test_a_member_that_can_no_longer_be_read_is_a_member_no_more(tmp_path: Path) -> None:
    """B-3."""
    older = b'{"id": "12", "name": "chat-12", "metadata": {"labels": {"hpa_scaling_ready": "1"}}}'

    async def scene() -> None:
        async with running(tmp_path) as etcd:
            await etcd.do(put(f"{SERVICES}by_name/bad-1", b"{"))
            async with followed(store_at(etcd.url)) as heard:
                await heard.hears(Confirmed)
                assert heard.all(MembersRead) == [MembersRead(())]
                await etcd.do(put(f"{SERVICES}by_name/chat-12-12", older))
                seen = await heard.settles(MembersRead, lambda read: bool(read.members))
                assert seen.members[0].is_ready
                await etcd.do(put(f"{SERVICES}by_name/chat-12-12", b"{"))
                await heard.settles(MembersRead, lambda read: not read.members)

    asyncio.run(scene())


def test_a_member_whose_key_somebody_deleted_is_written_again(tmp_path: Path) -> None:
    async def scene() -> None:
        async with running(tmp_path) as etcd:
            store = store_at(etcd.url)
            async with followed(store) as heard:
                await store.join(member("chat-1"))
                await heard.settles(MembersRead, lambda read: names(read) == ["chat-1"])
                await etcd.do(delete(f"{SERVICES}by_name/chat-1-1"))
                await heard.settles(MembersRead, lambda read: not read.members)

                await heard.settles(MembersRead, lambda read: names(read) == ["chat-1"])

    asyncio.run(scene())


def test_siblings_with_longer_names_are_others(tmp_path: Path) -> None:
    async def scene() -> None:
        async with running(tmp_path) as etcd:
            await etcd.do(put(f"{KEYS.base}-v7", b"{}"), put(f"{KEYS.base}-v7/.ready/1", b"{}"))
            async with followed(store_at(etcd.url)) as heard:
                await heard.hears(Confirmed)

                assert heard.all(StatusRead) == [StatusRead(status=None)]
                assert heard.all(RecordsRead) == [RecordsRead({})]

    asyncio.run(scene())
