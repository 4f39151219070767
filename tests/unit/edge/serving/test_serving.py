"""Servers keep callers within bounds: in size, in time, and in who they are."""

import asyncio
import ssl
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest
import trustme
from uvicorn._types import ASGIReceiveCallable, ASGISendCallable, Scope

from springtide.edge.serving import (
    Budget,
    CannotListen,
    CertificateFiles,
    Certificates,
    Limits,
    Overloaded,
    Reply,
    TooLarge,
    TooSlow,
    UnusableCertificate,
    listening,
    read,
    send_reply,
    server_for,
)
from springtide.edge.serving.protocol import PEER
from tests.loopback import answer, call, connected, head, served


def run(work: Coroutine[Any, Any, None]) -> None:
    """Run a test on the real loop: sockets do not wait in virtual time."""
    asyncio.run(asyncio.wait_for(work, 30))


class Echo:
    """Says how large a body was, or why it was not read, and who sent it."""

    def __init__(self, *, size_max: int = 1 << 20, time_s_max: float = 10.0, room: int = 1 << 30):
        self._limits = Limits(size_max=size_max, time_s_max=time_s_max)
        self._budget = Budget(room)

    async def __call__(
        self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable
    ) -> None:
        """Answer."""
        assert scope["type"] == "http"
        with self._budget.shared() as share:
            try:
                body = await read(scope, receive, limits=self._limits, share=share)
                reply = Reply(body=str(len(body)).encode())
            except (TooLarge, TooSlow, Overloaded) as fault:
                reply = Reply(body=type(fault).__name__.encode(), closes=True)
        peer = scope["state"].get(PEER)
        if peer is not None:
            reply = Reply(body=reply.body + b" from " + str(peer["subject"]).encode())
        await send_reply(send, reply, receive=receive)


@pytest.mark.parametrize("size", [0, 1, 1 << 20])
def test_a_body_of_any_size_below_the_limit_is_read(size: int) -> None:
    async def work() -> None:
        async with served(server_for(Echo(), drain_s=1)) as listener:
            assert (await call(listener, "POST", "/", b"x" * size)).body == str(size).encode()

    run(work())


def test_a_body_that_is_announced_as_too_large_is_not_waited_for() -> None:
    async def work() -> None:
        async with (
            served(server_for(Echo(), drain_s=1)) as listener,
            connected(listener) as (reader, writer),
        ):
            writer.write(head("POST", "/", length=1 << 40))

            assert (await answer(reader)).body == b"TooLarge"
            assert await reader.read() == b""

    run(work())


def test_a_body_that_turns_out_too_large_is_cut_off() -> None:
    async def work() -> None:
        async with (
            served(server_for(Echo(size_max=10), drain_s=1)) as listener,
            connected(listener) as (reader, writer),
        ):
            writer.write(head("POST", "/", extra="Transfer-Encoding: chunked\r\n"))
            writer.write(b"b\r\n01234567890\r\n")

            assert (await answer(reader)).body == b"TooLarge"
            assert await reader.read() == b""

    run(work())


def test_a_body_that_does_not_come_is_given_up() -> None:
    async def work() -> None:
        async with (
            served(server_for(Echo(time_s_max=0.05), drain_s=1)) as listener,
            connected(listener) as (reader, writer),
        ):
            writer.write(head("POST", "/", length=10) + b"12")

            assert (await answer(reader)).body == b"TooSlow"

    run(work())


def test_bodies_share_the_room_that_there_is_and_give_it_back() -> None:
    async def work() -> None:
        async with (
            served(server_for(Echo(room=15), drain_s=1)) as listener,
            connected(listener) as (reader, writer),
        ):
            writer.write(head("POST", "/", length=10) + b"0123456")
            while (await call(listener, "POST", "/", b"0123456789")).body != b"Overloaded":
                pass
            writer.write(b"789")

            assert (await answer(reader)).body == b"10"
            assert (await call(listener, "POST", "/", b"0123456789")).body == b"10"

    run(work())


@pytest.mark.parametrize(
    "said",
    [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: "],
    ids=["none", "line", "field"],
)
def test_who_does_not_finish_a_head_is_cut_off(said: bytes) -> None:
    async def work() -> None:
        async with (
            served(server_for(Echo(), drain_s=1, head_s_max=0.05)) as listener,
            connected(listener) as (reader, writer),
        ):
            writer.write(said)

            with pytest.raises((ConnectionResetError, asyncio.IncompleteReadError)):
                await reader.readexactly(1)

    run(work())


def test_a_head_without_end_is_cut_off() -> None:
    async def endless(writer: asyncio.StreamWriter) -> None:
        while True:
            writer.write(b"x" * 4096)
            await writer.drain()

    async def work() -> None:
        async with (
            served(server_for(Echo(), drain_s=1)) as listener,
            connected(listener) as (_, writer),
        ):
            writer.write(b"GET / HTTP/1.1\r\nHost: x\r\nX-Long: ")

            with pytest.raises(ConnectionError):
                await endless(writer)

    run(work())


def test_what_is_no_http_harms_only_its_connection() -> None:
    async def work() -> None:
        async with (
            served(server_for(Echo(), drain_s=1)) as listener,
            connected(listener) as (reader, writer),
        ):
            writer.write(b"\x16\x03\x01 hello\r\n\r\n")

            assert b"400" in await reader.readline()
            assert (await call(listener, "POST", "/", b"x")).body == b"1"

    run(work())


def test_a_connection_serves_one_call_after_the_other() -> None:
    async def work() -> None:
        async with (
            served(server_for(Echo(), drain_s=1)) as listener,
            connected(listener) as (reader, writer),
        ):
            for size in (1, 70_000, 3):
                writer.write(head("POST", "/", length=size) + b"x" * size)

                assert (await answer(reader)).body == str(size).encode()

    run(work())


@pytest.mark.parametrize("address", ["8080", "host:", "1.2.3.4:70000", ":x"])
def test_an_address_that_makes_no_sense_is_told(address: str) -> None:
    with pytest.raises(CannotListen, match="no address"):
        listening(address)


def test_an_address_that_is_taken_is_told() -> None:
    taken = listening("127.0.0.1:0")

    with taken.socket, pytest.raises(CannotListen, match="stop what uses it"):
        listening(f"127.0.0.1:{taken.port}")


class Pair:
    """Files of a certificate on disk."""

    def __init__(self, folder: Path) -> None:
        self.certificate, self.key = folder / "tls.crt", folder / "tls.key"
        self.authorities = folder / "ca.crt"

    def write(self, authority: trustme.CA) -> None:
        """Write a new certificate of this authority."""
        made = authority.issue_cert("localhost")
        self.key.write_bytes(made.private_key_pem.bytes())
        self.certificate.write_bytes(b"".join(each.bytes() for each in made.cert_chain_pems))

    def files(self, *, clients: str = "") -> CertificateFiles:
        """Return where they are."""
        return CertificateFiles(
            certificate=str(self.certificate), key=str(self.key), client_authorities=clients
        )


def trusting(authority: trustme.CA) -> ssl.SSLContext:
    """Return a client that trusts this authority alone."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    authority.configure_trust(context)
    return context


def test_a_renewed_certificate_is_shown_without_a_restart(tmp_path: Path) -> None:
    before, after = trustme.CA(), trustme.CA()
    pair = Pair(tmp_path)
    pair.write(before)
    certificates = Certificates(pair.files())

    async def work() -> None:
        server = server_for(Echo(), drain_s=1, tls=certificates.context)
        async with served(server) as listener:
            assert (await call(listener, "POST", "/", b"x", tls=trusting(before))).body == b"1"
            assert not certificates.renew()
            pair.write(after)
            assert certificates.renew()

            assert (await call(listener, "POST", "/", b"x", tls=trusting(after))).body == b"1"
            with pytest.raises(ssl.SSLCertVerificationError):
                await call(listener, "POST", "/", b"x", tls=trusting(before))

    run(work())


def test_a_pair_that_does_not_match_leaves_the_one_before_in_use(tmp_path: Path) -> None:
    authority = trustme.CA()
    pair = Pair(tmp_path)
    pair.write(authority)
    certificates = Certificates(pair.files())
    pair.key.write_bytes(authority.issue_cert("localhost").private_key_pem.bytes())

    with pytest.raises(UnusableCertificate):
        certificates.renew()

    async def work() -> None:
        server = server_for(Echo(), drain_s=1, tls=certificates.context)
        async with served(server) as listener:
            assert (await call(listener, "POST", "/", b"x", tls=trusting(authority))).body == b"1"

    run(work())


def test_files_that_make_no_certificate_are_told(tmp_path: Path) -> None:
    pair = Pair(tmp_path)

    with pytest.raises(UnusableCertificate, match="Check that it is mounted"):
        Certificates(pair.files())

    pair.certificate.write_text("no")
    pair.key.write_text("certificate")
    with pytest.raises(UnusableCertificate, match="Give the PEM files"):
        Certificates(pair.files())


def test_who_calls_is_known_by_a_certificate_and_strangers_are_not_let_in(tmp_path: Path) -> None:
    authority, stranger = trustme.CA(), trustme.CA()
    pair = Pair(tmp_path)
    pair.write(authority)
    authority.cert_pem.write_to_path(pair.authorities)
    certificates = Certificates(pair.files(clients=str(pair.authorities)))
    known, unknown, silent = trusting(authority), trusting(authority), trusting(authority)
    authority.issue_cert("caller").configure_cert(known)
    stranger.issue_cert("caller").configure_cert(unknown)

    async def work() -> None:
        server = server_for(Echo(), drain_s=1, tls=certificates.context)
        async with served(server) as listener:
            assert b"from" in (await call(listener, "POST", "/", b"x", tls=known)).body
            assert (await call(listener, "POST", "/", b"x", tls=silent)).body == b"1"
            with pytest.raises((ssl.SSLError, ConnectionError, asyncio.IncompleteReadError)):
                await call(listener, "POST", "/", b"x", tls=unknown)

    run(work())


def test_a_server_ends_as_soon_as_it_is_told() -> None:
    """It looks at the time once a second, and waits for no look."""

    async def work() -> None:
        listener = listening("127.0.0.1:0")
        server = server_for(Echo(), drain_s=1.0)
        serving = asyncio.create_task(server.serve(sockets=[listener.socket]))
        await asyncio.sleep(0.1)
        begun_s = asyncio.get_running_loop().time()

        server.should_exit = True
        await serving

        assert asyncio.get_running_loop().time() - begun_s < 0.5

    run(work())
