"""What an informer tells, whatever happens to the objects, the connection and the server meanwhile.

Applied to an empty dictionary it gives what the server has: at each Synced as of its version, and in
the end as of now. Each change must make sense to somebody who applies all of them in order.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from springtide.edge.cluster import (
    EVERYWHERE,
    PODS,
    Added,
    Change,
    Deleted,
    Interrupted,
    Kind,
    Resumed,
    Scope,
    Skipped,
    Synced,
    Updated,
)
from springtide.edge.kube import KubeCluster, Waiting
from springtide.edge.machine import SeededRng
from springtide.wire.errors import MalformedObject
from tests.kubeapi import Direct, KubeApi, Reply, status
from tests.objectstore import Entry, Object, ObjectStore, Refused, matches
from tests.virtual import LoopClock, run

PLACE: Final = ("", "pods")
PATH: Final = "/api/v1/pods"
NAMES: Final = ("a", "b", "c", "d", "e")
LONG_S: Final = 3600.0
View: TypeAlias = dict[str, tuple[str, str]]

GONE: Final = Refused(410, "Expired", "too old")
FAULTS: Final = (
    status(GONE),
    status(Refused(500, "InternalError", "no leader")),
    status(Refused(429, "TooManyRequests", "busy"), retry_after="7"),
    status(Refused(403, "Forbidden", "not yours")),
    Reply(cuts=True),
    Reply(hangs=True),
    Reply(status=200, body=b"<html>"),
)


class _Metadata(msgspec.Struct, frozen=True, rename="camel"):
    uid: str
    resource_version: str
    labels: Mapping[str, str] = {}


class _Pod(msgspec.Struct, frozen=True):
    metadata: _Metadata


def versions(data: msgspec.Raw) -> tuple[str, str]:
    """Return uid and version of an object that can be read."""
    metadata = msgspec.json.decode(data, type=_Pod).metadata
    if "bad" in metadata.labels:
        raise MalformedObject("metadata.labels", "it is bad.")
    return metadata.uid, metadata.resource_version


class Server:
    """The server, with all that ever changed, and what may happen to it."""

    def __init__(self) -> None:
        self.store = ObjectStore()
        self.api = KubeApi(self.store, page_objects=2)
        self.history: list[Entry] = []
        self.store.heard.append(self.history.append)

    def put(self, name: str, label: str) -> None:
        """Create an object or change it."""
        labels = {"l": label, label: "yes"}
        if ("t", name) in self.store.objects[PLACE]:
            labels_now: dict[str, str | None] = {"bad": None, "good": None, "other": None, **labels}
            self.store.merge(PLACE, "t", name, {"metadata": {"labels": labels_now}})
        else:
            self.store.create(PLACE, "t", {"metadata": {"name": name, "labels": labels}})

    def delete(self, name: str) -> None:
        """Delete an object, if it is there."""
        if ("t", name) in self.store.objects[PLACE]:
            self.store.delete(PLACE, "t", name, {})

    def repeat(self, back: int) -> None:
        """Tell an old change again."""
        if self.history:
            self.api.repeat(self.history[-1 - back % len(self.history)])

    def as_of(self, version: int, labels: str) -> dict[str, Object]:
        """Return what there was."""
        found: dict[str, Object] = {}
        for entry in self.history:
            if entry.version <= version:
                each = entry.after or entry.before
                assert each is not None
                key = f"t/{each['metadata']['name']}"
                found.pop(key, None)
                if entry.after is not None and matches(labels, "", entry.after):
                    found[key] = entry.after
        return found


class Applied:
    """Applies what is told, and checks that it makes sense."""

    def __init__(self, server: Server, labels: str) -> None:
        self.view: View = {}
        self.synced = 0
        self._server = server
        self._labels = labels
        self._is_interrupted = False

    def apply(self, change: Change[tuple[str, str]]) -> None:
        """Apply one change."""
        match change:
            case Added():
                assert change.key not in self.view
                assert change.record == (change.uid, change.version)
                self.view[change.key] = change.record
            case Updated():
                uid, version = self.view[change.key]
                assert uid == change.uid
                assert int(version) < int(change.version)
                self.view[change.key] = change.record
            case Deleted():
                assert self.view.pop(change.key)[0] == change.uid
            case Synced():
                assert int(change.version) >= self.synced
                self.synced = int(change.version)
                self.check(self.synced)
            case Skipped():
                assert "bad" in change.why
            case Interrupted():
                self._is_interrupted = True
            case Resumed():
                assert self._is_interrupted
                self._is_interrupted = False

    def check(self, version: int) -> None:
        """Assert that the view is the server's of this version."""
        expected = self._server.as_of(version, self._labels)
        assert set(self.view) <= set(expected)
        for key, each in expected.items():
            metadata = each["metadata"]
            if "bad" not in metadata["labels"]:
                assert self.view[key] == (metadata["uid"], metadata["resourceVersion"])
            elif key in self.view:
                assert self.view[key][0] == metadata["uid"]


Step: TypeAlias = Callable[[Server], None]


def named(name: str, step: Step) -> Step:
    """Return the step with a name to be found by in a failure."""
    step.__name__ = step.__qualname__ = name
    return step


PUTS = st.builds(
    lambda name, label: named(f"put_{name}_{label}", lambda server: server.put(name, label)),
    st.sampled_from(NAMES),
    st.sampled_from(("good", "good", "other", "bad")),
)
DELETES = st.builds(
    lambda name: named(f"delete_{name}", lambda server: server.delete(name)), st.sampled_from(NAMES)
)
REPEATS = st.builds(
    lambda back: named(f"repeat_{back}", lambda server: server.repeat(back)), st.integers(0, 9)
)
FAILS = st.builds(
    lambda fault: named(
        f"fail_{fault.status}", lambda server: server.api.scripted.append((PATH, fault))
    ),
    st.sampled_from(FAULTS),
)
ORDERS = st.sampled_from(
    [
        named("end", lambda server: server.api.order("end")),
        named("cut", lambda server: server.api.order("cut")),
        named("silence", lambda server: server.api.order("silence")),
        named("bookmark", lambda server: server.api.bookmark()),
        named("forget", lambda server: server.store.forget()),
        named("expire", lambda server: server.api.expire_pages()),
        named("gone", lambda server: setattr(server.api, "tells_gone_in_watch", True)),
    ]
)
STEPS = st.lists(
    st.tuples(
        st.sampled_from((0.0, 0.0, 0.001, 0.4, 7.0, 100.0)),
        st.one_of(PUTS, PUTS, DELETES, ORDERS, FAILS, REPEATS),
    ),
    max_size=40,
)


async def told(
    server: Server, steps: Sequence[tuple[float, Step]], *, scope: Scope, pace_s: float
) -> Applied:
    """Let it all happen, and return what was told by a long time after."""
    inbox: asyncio.Queue[Change[tuple[str, str]]] = asyncio.Queue(2)
    waiting = Waiting(clock=LoopClock(), rng=SeededRng(1), pause=asyncio.sleep)
    cluster = KubeCluster(Direct(server.api, latency_s=0.3), waiting=waiting)
    following = asyncio.create_task(cluster.follow(Kind(PODS, versions), inbox.put, scope=scope))
    applied = Applied(server, scope.labels)

    async def apply() -> None:
        while True:
            applied.apply(await inbox.get())
            await asyncio.sleep(pace_s)

    applying = asyncio.create_task(apply())
    for wait_s, step in steps:
        await asyncio.sleep(wait_s)
        step(server)
    await asyncio.wait([following, applying], timeout=LONG_S, return_when=asyncio.FIRST_COMPLETED)
    for task in (following, applying):
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    return applied


@given(STEPS, st.sampled_from((EVERYWHERE, Scope(labels="good=yes"))), st.sampled_from((0.0, 0.2)))
def test_the_view_follows_the_server_through_everything(
    steps: list[tuple[float, Step]], scope: Scope, pace_s: float
) -> None:
    server = Server()

    applied = run(told(server, steps, scope=scope, pace_s=pace_s))

    assert applied.synced == server.store.version
    applied.check(server.store.version)
