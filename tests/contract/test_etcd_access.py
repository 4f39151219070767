"""How an etcd knows a member, and what is told where it does not; tried on a real one."""

import asyncio
from pathlib import Path

import pytest
import trustme

from springtide.edge.store import (
    Away,
    Confirmed,
    Denied,
    MembersRead,
    RecordsRead,
    StatusRead,
    Unreachable,
)
from springtide.edge.store.etcd.shapes import span
from springtide.model.scheduler import ExtenderTLSConfig
from tests.contract.etcdsite import KEYS, SERVICES, followed, store_at
from tests.contract.stores import member, names, record
from tests.etcds import MISSING, Etcd, Given, program, running

pytestmark = pytest.mark.skipif(not program(), reason=MISSING)


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
                await store.release(lock.token)
                await store.leave()
                await heard.settles(MembersRead, lambda read: not read.members)

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
        async with (
            running(tmp_path) as etcd,
            store_at(etcd.url, user="chat", password_file="/nowhere") as store,
        ):
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
