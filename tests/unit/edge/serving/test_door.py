"""So many callers are served at a time; those who do nothing make room, and nobody is turned away."""

import asyncio
import ssl
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import trustme
from uvicorn._types import ASGIReceiveCallable, ASGISendCallable, Scope

from springtide.edge.serving import (
    CertificateFiles,
    Certificates,
    Reply,
    send_reply,
    server_for,
)
from tests.loopback import answer, call, connected, head, served
from tests.running import run, until

ROOM = 4
HEAD = head("GET", "/")


async def ok(_scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
    """Answer without reading anything."""
    await send_reply(send, Reply(body=b"ok"), receive=receive)


def test_who_is_connected_is_answered_while_there_is_no_room_for_others() -> None:
    async def work() -> None:
        server = server_for(ok, drain_s=1, connections_max=ROOM)
        async with served(server) as listener, AsyncExitStack() as stack:
            reader, writer = await stack.enter_async_context(connected(listener))
            for _ in range(ROOM * 3):
                _, silent = await stack.enter_async_context(connected(listener))
                silent.write(b"GET / HTTP/1.1\r\n")

            for _ in range(3):
                writer.write(HEAD)
                assert (await answer(reader)).body == b"ok"

            assert len(server.server_state.connections) == ROOM

    run(work())


def test_who_says_nothing_is_cut_off_and_those_outside_come_in() -> None:
    async def work() -> None:
        server = server_for(ok, drain_s=1, connections_max=ROOM, head_s_max=0.2)
        async with served(server) as listener, AsyncExitStack() as stack:
            for _ in range(ROOM):
                await stack.enter_async_context(connected(listener))

            assert (await call(listener, "GET", "/")).body == b"ok"

    run(work())


def test_who_has_rested_longest_makes_room() -> None:
    async def work() -> None:
        server = server_for(ok, drain_s=1, connections_max=ROOM)
        async with served(server) as listener, AsyncExitStack() as stack:
            readers = []
            for _ in range(ROOM + 1):
                reader, writer = await stack.enter_async_context(connected(listener))
                writer.write(HEAD)
                assert (await answer(reader)).body == b"ok"
                readers.append(reader)

            assert await readers[0].read() == b""
            assert not readers[-1].at_eof()

    run(work())


def test_who_begins_to_rest_makes_room_for_who_waits_already() -> None:
    async def work() -> None:
        server = server_for(ok, drain_s=1, connections_max=ROOM)
        async with served(server) as listener, AsyncExitStack() as stack:
            writers = []
            for _ in range(ROOM):
                _, writer = await stack.enter_async_context(connected(listener))
                writer.write(HEAD[:-2])
                writers.append(writer)
            waiting = asyncio.create_task(call(listener, "GET", "/"))
            await until(lambda: len(server.server_state.connections) == ROOM)

            writers[1].write(HEAD[-2:])

            assert (await waiting).body == b"ok"

    run(work())


def certificates(folder: Path, authority: trustme.CA) -> Certificates:
    """Return a certificate that this authority has issued."""
    made = authority.issue_cert("localhost")
    made.private_key_pem.write_to_path(folder / "tls.key")
    made.cert_chain_pems[0].write_to_path(folder / "tls.crt")
    return Certificates(
        CertificateFiles(certificate=str(folder / "tls.crt"), key=str(folder / "tls.key"))
    )


@pytest.mark.parametrize("said", [b"", b"\x16\x03\x01\x02\x00\x01"], ids=["nothing", "half"])
def test_a_handshake_that_is_never_finished_is_given_up(tmp_path: Path, said: bytes) -> None:
    authority = trustme.CA()
    shown = certificates(tmp_path, authority)
    trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    authority.configure_trust(trusting)

    async def work() -> None:
        server = server_for(ok, drain_s=1, connections_max=ROOM, head_s_max=0.3, tls=shown.context)
        async with served(server) as listener, AsyncExitStack() as stack:
            readers = []
            for _ in range(ROOM):
                reader, writer = await stack.enter_async_context(connected(listener))
                writer.write(said)
                readers.append(reader)

            assert (await call(listener, "GET", "/", tls=trusting)).body == b"ok"
            assert [await each.read() for each in readers] == [b""] * ROOM

    run(work())


async def drained(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Read on and send spaces until the connection breaks."""
    while await reader.read(1000):
        writer.write(b" ")
    raise ConnectionError


@pytest.mark.parametrize(
    "between",
    [b"\r\n", b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 900\r\n\r\n "],
    ids=["empty-lines", "body-that-is-not-waited-for"],
)
def test_an_answered_caller_that_goes_on_without_asking_is_cut_off(between: bytes) -> None:
    async def work() -> None:
        server = server_for(ok, drain_s=1, head_s_max=0.2)
        async with served(server) as listener, connected(listener) as (reader, writer):
            writer.write(HEAD)
            assert (await answer(reader)).body == b"ok"

            writer.write(between)

            with pytest.raises(ConnectionError):
                await drained(reader, writer)

    run(work())


def test_the_end_does_not_wait_for_those_who_shake_hands(tmp_path: Path) -> None:
    shown = certificates(tmp_path, trustme.CA())

    async def work() -> None:
        server = server_for(ok, drain_s=20, tls=shown.context)
        async with AsyncExitStack() as stack, served(server) as listener:
            await stack.enter_async_context(connected(listener))
            await asyncio.sleep(0)

    run(asyncio.wait_for(work(), 5))
