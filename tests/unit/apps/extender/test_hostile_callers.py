"""Callers that break off, dawdle, flood or talk nonsense harm nobody else, and hold nothing."""

import asyncio
import gzip
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import msgspec
import pytest

from springtide.apps.extender import Deadlines, Settings, Sizes
from tests.loopback import Answer, answer, call, connected, head
from tests.running import Standing, Unwilling, World, pod_object, run, running

PATHS = ("/filter", "/bind", "/webhook")
SETTINGS = Settings(
    deadlines=Deadlines(body_s=0.1, drain_s=1.0),
    sizes=Sizes(body_bytes=1 << 18, review_bytes=1 << 18),
)
JSON_BODY = "Content-Type: application/json\r\n"
CHUNKED = "Transfer-Encoding: chunked\r\n"
POD = {**pod_object("evil", gpu=1), "metadata": {"name": "evil", "namespace": "team", "uid": "e"}}
DEEP = b'{"a":' * 20_000


def question(path: str, *, version: str = "v1") -> bytes:
    """Return a body that would be answered if it came whole."""
    bodies: dict[str, Any] = {
        "/filter": {"Pod": POD, "Nodes": None, "NodeNames": ["a"]},
        "/bind": {"PodName": "evil", "PodNamespace": "team", "PodUID": "e", "Node": "a"},
        "/webhook": {
            "apiVersion": f"admission.k8s.io/{version}",
            "kind": "AdmissionReview",
            "request": {"uid": "r", "namespace": "team", "operation": "CREATE", "object": POD},
        },
    }
    return msgspec.json.encode(bodies[path])


def fault(path: str, answered: Answer) -> str:
    """Return what an answer of status 200 says that was wrong."""
    assert answered.status == 200, answered
    body = msgspec.json.decode(answered.body)
    if path != "/webhook":
        return str(body["Error"])
    assert not body["response"]["allowed"]
    return str(body["response"]["status"]["message"])


@asynccontextmanager
async def attacked() -> AsyncIterator[Standing]:
    """Run an extender of one node; at the end others are answered, and nothing is held."""
    world = World()
    world.add_node("a")
    async with running(Unwilling(world.store), settings=SETTINGS) as extender:
        yield extender
        assert not extender.live.tracking.reservations
        extender.live.ledger.check()
        assert (await extender.filter(world.add_pod("good", gpu=1), "a"))["NodeNames"] == ["a"]


@pytest.mark.parametrize("path", PATHS)
def test_a_body_that_breaks_off_is_let_go(path: str) -> None:
    body = question(path)

    async def work() -> None:
        async with attacked() as extender:
            for length in (1, len(body) - 1):
                async with connected(extender.calls) as (_, writer):
                    writer.write(head("POST", path, length=len(body)) + body[:length])
                    await writer.drain()
            async with connected(extender.calls) as (reader, writer):
                writer.write(head("POST", path, length=len(body)) + body[:-1])
                writer.write_eof()
                assert await reader.read() == b""

    run(work())


@pytest.mark.parametrize("path", PATHS)
def test_a_body_that_comes_byte_by_byte_is_given_up(path: str) -> None:
    body = question(path)

    async def trickle(writer: asyncio.StreamWriter) -> None:
        for each in body:
            writer.write(bytes([each]))
            await asyncio.sleep(0.01)

    async def work() -> None:
        async with attacked() as extender, connected(extender.calls) as (reader, writer):
            writer.write(head("POST", path, length=len(body)))
            trickling = asyncio.create_task(trickle(writer))
            said = fault(path, await answer(reader))
            trickling.cancel()
            assert "did not come within 0.1 s" in said

    run(work())


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("extra", ["Content-Length: 3000000\r\n", CHUNKED], ids=["told", "chunked"])
def test_a_body_that_is_too_large_is_refused_in_words_that_arrive(path: str, extra: str) -> None:
    async def send(writer: asyncio.StreamWriter) -> None:
        part = b" " * 30_000
        for _ in range(100):
            writer.write(b"7530\r\n" + part + b"\r\n" if extra == CHUNKED else part)
            await writer.drain()

    async def work() -> None:
        async with attacked() as extender, connected(extender.calls) as (reader, writer):
            writer.write(head("POST", path, extra=extra))
            # A caller that looks at the answer only when it has sent everything still finds it.
            await send(writer)
            assert "larger than" in fault(path, await answer(reader))

    run(work())


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "body",
    [
        DEEP,
        b"[" * 50_000,
        b'{"Pod":' + DEEP + b"1" + b"}" * 20_001,
        b'{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"r","object":'
        b'{"spec":{"affinity":' + DEEP + b"1" + b"}" * 20_003,
        b'{"Pod":{"spec":{"affinity":' + DEEP + b"1" + b"}" * 20_002 + b',"NodeNames":["a"]}',
        b'{"Pod":{"metadata":{"name":"\xff\xfe","annotations":{"\x00":"\xed\xa0\x80"}}}}',
        b'\xef\xbb\xbf{"Pod":{}}',
        b'{"Pod":1e999999,"PodName":1e999999,"kind":-1e-999999}',
    ],
    ids=["deep", "lists", "deep-pod", "deep-review", "deep-affinity", "utf-8", "mark", "numbers"],
)
def test_a_body_that_cannot_be_read_is_answered_in_words(path: str, body: bytes) -> None:
    async def work() -> None:
        async with attacked() as extender:
            answered = await call(extender.calls, "POST", path, body, extra=JSON_BODY)
            assert fault(path, answered)

    run(work())


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_a_pod_with_what_nobody_reads_nested_deep_is_reviewed_or_refused(version: str) -> None:
    deep = b'{"metadata":{"name":"evil"},"spec":{"containers":[{"name":"c"}],"x":' + DEEP + b"1"
    body = question("/webhook", version=version).replace(
        msgspec.json.encode(POD), deep + b"}" * 20_002
    )

    async def work() -> None:
        async with attacked() as extender:
            answered = await call(extender.calls, "POST", "/webhook", body, extra=JSON_BODY)
            assert msgspec.json.decode(answered.body)["apiVersion"].startswith("admission.k8s.io/")

    run(work())


@pytest.mark.parametrize("path", PATHS)
def test_a_body_that_is_compressed_is_refused_in_words(path: str) -> None:
    body = gzip.compress(question(path))

    async def work() -> None:
        async with attacked() as extender:
            extra = f"{JSON_BODY}Content-Encoding: gzip\r\n"
            answered = await call(extender.calls, "POST", path, body, extra=extra)
            assert fault(path, answered) == "send the body as it is, not as gzip"

    run(work())


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "\x80;;=", ""])
def test_kube_scheduler_is_read_whatever_it_calls_its_body(kind: str) -> None:
    body = question("/filter").replace(b"nvidia.com/gpu", b"cpu")

    async def work() -> None:
        async with attacked() as extender:
            answered = await call(
                extender.calls, "POST", "/filter", body, extra=f"Content-Type: {kind}\r\n"
            )
            assert msgspec.json.decode(answered.body)["NodeNames"] == ["a"]

    run(work())


@pytest.mark.parametrize(
    "said",
    [
        b"POST /filter HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
        b"POST /filter HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n{}\r\n",
        b"POST /filter HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
        b"POST /filter HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\nContent-Length: 8\r\n\r\n",
        b"POST /filter HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"POST /filter\xff HTTP/1.1\r\nHost: x\r\n\r\n",
        b"CONNECT filter:80 HTTP/1.1\r\nHost: x\r\n\r\n",
        b"POST /filter HTTP/9.9\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X: y\r\n" * 12_000 + b"\r\n",
        b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 600,
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ],
    ids=[
        *("chunk-size", "negative-chunk", "negative-length", "two-lengths", "length-and-chunks"),
        *("path", "connect", "version", "many-fields", "long-path", "tls", "http2"),
    ],
)
def test_what_is_no_request_ends_its_connection_alone(said: bytes) -> None:
    async def work() -> None:
        async with attacked() as extender, connected(extender.calls) as (reader, writer):
            writer.write(said)
            try:
                answered = await reader.read()
            except ConnectionError:
                answered = b""
            assert answered.partition(b"\r\n")[0] in (b"", b"HTTP/1.1 400 Bad Request")

    run(work())


def test_an_old_caller_is_answered_and_let_go() -> None:
    async def work() -> None:
        async with attacked() as extender, connected(extender.calls) as (reader, writer):
            writer.write(b"POST /bind HTTP/1.0\r\nContent-Length: 2\r\n\r\n{}")
            assert "missing PodName" in fault("/bind", await answer(reader))
            assert await reader.read() == b""

    run(work())


def test_requests_in_a_row_are_answered_in_a_row() -> None:
    async def work() -> None:
        async with attacked() as extender, connected(extender.calls) as (reader, writer):
            for path in PATHS * 50:
                writer.write(head("POST", path, length=2) + b"{}")
                writer.write(head("GET", "/livez"))
            for path in PATHS * 50:
                assert fault(path, await answer(reader))
                assert (await answer(reader)).body == b"ok"

    run(work())


@pytest.mark.parametrize(("length", "first"), [(2, b"100 Continue"), (3_000_000, b"200 OK")])
def test_a_caller_that_asks_first_is_told_to_go_on_or_what_is_wrong(
    length: int, first: bytes
) -> None:
    async def work() -> None:
        async with attacked() as extender, connected(extender.calls) as (reader, writer):
            writer.write(head("POST", "/bind", length=length, extra="Expect: 100-continue\r\n"))
            assert await reader.readline() == b"HTTP/1.1 " + first + b"\r\n"
            if length == 2:
                await reader.readline()
                writer.write(b"{}")
                assert "missing PodName" in fault("/bind", await answer(reader))

    run(work())


def test_many_that_stop_in_the_middle_keep_nobody_from_an_answer() -> None:
    body = question("/filter")

    async def work() -> None:
        async with attacked() as extender, AsyncExitStack() as stack:
            for _ in range(200):
                _, writer = await stack.enter_async_context(connected(extender.calls))
                writer.write(head("POST", "/filter", length=len(body)) + body[:-1])
            assert (await call(extender.calls, "GET", "/readyz")).status == 200

    run(work())


@pytest.mark.parametrize("path", ["/nowhere", "/livez", "/metrics"])
def test_a_body_that_nobody_wants_does_not_hide_the_answer(path: str) -> None:
    async def work() -> None:
        async with attacked() as extender, connected(extender.calls) as (reader, writer):
            writer.write(head("POST", path, length=3_000_000))
            for _ in range(100):
                writer.write(b" " * 30_000)
                await writer.drain()
            assert (await answer(reader)).status in (404, 405)

    run(work())
