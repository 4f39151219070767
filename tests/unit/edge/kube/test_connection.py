"""Streams and credentials over real connections."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from springtide.edge.cluster import (
    PODS,
    Broken,
    Change,
    Interrupted,
    Kind,
    Resumed,
    Synced,
    TimedOut,
    raw,
)
from springtide.edge.kube import Access, Connection, KubeCluster, Waiting, connect
from springtide.edge.kube.transport import MERGE_PATCH, Request
from springtide.edge.machine import MachineClock
from tests.apiserver import api_server, kubeconfig, status
from tests.kubeapi import KubeApi, Reply, served
from tests.objectstore import ObjectStore
from tests.world import FirstRng

PATH = "/api/v1/pods"
WATCH = (("watch", "1"), ("resourceVersion", "100"), ("timeoutSeconds", "300"))
DEAD_S = 0.05


@asynccontextmanager
async def connected(
    api: KubeApi, tmp_path: Path, *, timeout_s: float = 10.0
) -> AsyncIterator[Connection]:
    async with served(api) as url:
        access = Access(kubeconfig=kubeconfig(tmp_path / "config", url), timeout_s=timeout_s)
        async with await connect(access) as connection:
            yield connection


def test_a_stream_comes_as_it_is_sent(tmp_path: Path) -> None:
    async def play() -> bytes:
        store = ObjectStore()
        api = KubeApi(store)
        async with connected(api, tmp_path) as connection, connection.stream(PATH, WATCH) as stream:
            assert stream.status == 200
            await api.until_watched()
            store.create(("", "pods"), "t", {"metadata": {"name": "a"}})
            text = b""
            while not text.strip():
                text = await stream.chunk()
            api.order("end")
            assert await stream.chunk() == b""
            return text

    assert json.loads(asyncio.run(play()))["object"]["metadata"]["name"] == "a"


def test_a_stream_that_is_cut_is_broken(tmp_path: Path) -> None:
    async def play() -> None:
        api = KubeApi(ObjectStore())
        async with connected(api, tmp_path) as connection, connection.stream(PATH, WATCH) as stream:
            await api.until_watched()
            api.order("cut")
            while True:
                await stream.chunk()

    with pytest.raises(Broken, match="the connection broke"):
        asyncio.run(play())


def test_a_stream_that_does_not_begin_is_not_waited_for(tmp_path: Path) -> None:
    async def play() -> None:
        api = KubeApi(ObjectStore())
        api.scripted.append((PATH, Reply(hangs=True)))
        async with (
            connected(api, tmp_path, timeout_s=DEAD_S) as connection,
            connection.stream(PATH, WATCH),
        ):
            pass

    with pytest.raises(TimedOut, match=r"within 0\.05 s"):
        asyncio.run(play())


def test_a_refused_stream_says_why_and_when_to_come_back(tmp_path: Path) -> None:
    async def play() -> tuple[int, str, bytes]:
        api = KubeApi(ObjectStore())
        api.scripted.append((PATH, Reply(status=429, body=b"busy", retry_after="7")))
        async with connected(api, tmp_path) as connection, connection.stream(PATH, WATCH) as stream:
            return stream.status, stream.retry_after, await stream.chunk()

    assert asyncio.run(play()) == (429, "7", b"busy")


def test_a_dead_connection_is_left_for_a_new_one(tmp_path: Path) -> None:
    async def play() -> list[type[Any]]:
        api = KubeApi(ObjectStore())
        inbox: asyncio.Queue[Change[bytes]] = asyncio.Queue(1)
        waiting = Waiting(
            clock=MachineClock(),
            rng=FirstRng(),
            pause=lambda _: asyncio.sleep(0),
            silence_s_max=DEAD_S,
        )
        async with connected(api, tmp_path) as connection:
            cluster = KubeCluster(connection, waiting=waiting)
            task = asyncio.create_task(cluster.follow(Kind(PODS, raw), inbox.put))
            told = [type(await inbox.get()) for _ in range(3)]
            task.cancel()
            await asyncio.wait([task])
            assert task.cancelled()
        return told

    assert asyncio.run(play()) == [Synced, Interrupted, Resumed]


def test_a_body_goes_as_the_kind_of_text_that_it_is(tmp_path: Path) -> None:
    with api_server() as server:

        async def play() -> int:
            access = Access(kubeconfig=kubeconfig(tmp_path / "config", server.url))
            request = Request(
                method="PATCH", path=PATH, body={"a": None, "b": "ü"}, content_type=MERGE_PATCH
            )
            async with await connect(access) as connection:
                return (await connection.send(request)).status

        code = asyncio.run(play())

    (asked,) = server.asked
    assert code == 200
    assert asked.headers["Content-Type"] == "application/merge-patch+json"
    assert json.loads(asked.body) == {"a": None, "b": "ü"}


def plugin(tmp_path: Path) -> dict[str, Any]:
    """Return a user whose plugin gives another token each time."""
    counter = tmp_path / "count"
    counter.write_text("0", encoding="utf-8")
    answer = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "kind": "ExecCredential",
        "status": {"token": "token-%d"},
    }
    code = (
        f"import pathlib; path = pathlib.Path({str(counter)!r}); count = int(path.read_text()) + 1; "
        f"path.write_text(str(count)); print({json.dumps(answer)!r} % count)"
    )
    return {
        "exec": {
            "apiVersion": "client.authentication.k8s.io/v1",
            "command": sys.executable,
            "args": ["-c", code],
        }
    }


def test_credentials_that_have_run_out_are_fetched_anew(tmp_path: Path) -> None:
    path = tmp_path / "config"
    with api_server() as server:
        access = Access(kubeconfig=kubeconfig(path, server.url, user=plugin(tmp_path)))

        async def play() -> list[int]:
            async with await connect(access) as connection:
                server.scripted[PATH] = [status(401, "expired"), status(401, "expired")]
                both = await asyncio.gather(connection.get(PATH, ()), connection.get(PATH, ()))
                server.scripted[PATH] = [status(401, "expired")]
                again = await connection.get(PATH, ())
                return [each.status for each in (*both, again)]

        codes = asyncio.run(play())

    assert codes == [200, 200, 401]
    tokens = [each.headers["authorization"] for each in server.asked]
    assert tokens == ["Bearer token-1"] * 2 + ["Bearer token-2"] * 3


def test_a_token_that_stays_the_same_is_not_tried_twice(tmp_path: Path) -> None:
    with api_server() as server:
        server.scripted[PATH] = [status(401, "expired")]

        async def play() -> int:
            access = Access(kubeconfig=kubeconfig(tmp_path / "config", server.url))
            async with await connect(access) as connection:
                return (await connection.get(PATH, ())).status

        code = asyncio.run(play())

    assert code == 401
    assert server.count(PATH) == 1
