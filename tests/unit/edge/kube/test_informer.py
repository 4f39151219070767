"""An informer and a server that fails in one way at a time, in virtual time."""

import asyncio
from collections.abc import Callable, Coroutine
from itertools import pairwise
from typing import Any

import msgspec
import pytest

from springtide.edge.cluster import (
    EVERYWHERE,
    PODS,
    Added,
    Change,
    Deleted,
    Denied,
    Failing,
    Gone,
    Interrupted,
    Kind,
    Malformed,
    NotServed,
    Resumed,
    Scope,
    Silent,
    Skipped,
    Synced,
    Throttled,
    Unreachable,
    Updated,
)
from springtide.edge.cluster.kinds import LEASES
from springtide.edge.kube import KubeCluster, Waiting
from springtide.edge.kube.informer import (
    RETRY_AFTER_S_MAX,
    SILENCE_S_MAX,
    WATCH_FAILURES_MAX,
    WATCH_S_MIN,
)
from springtide.edge.kube.listing import RESTARTS_MAX
from springtide.wire.k8s.resources import Resource
from tests.kubeapi import Asked, Direct, KubeApi, Reply, status
from tests.objectstore import ObjectStore, Refused
from tests.virtual import LoopClock, run
from tests.world import FirstRng

PATH = "/api/v1/pods"
PLACE = ("", "pods")


class _Metadata(msgspec.Struct, frozen=True):
    name: str


class _Named(msgspec.Struct, frozen=True):
    metadata: _Metadata


def name_of(data: msgspec.Raw) -> str:
    return msgspec.json.decode(data, type=_Named).metadata.name


NAMES = Kind(PODS, name_of)


class Followed:
    """Pods that are followed: the server, and what was told and when."""

    def __init__(self) -> None:
        self.store = ObjectStore()
        self.api = KubeApi(self.store, page_objects=2)
        self.inbox: asyncio.Queue[tuple[float, Change[str]]] = asyncio.Queue(100)

    def put(self, *names: str) -> None:
        """Create pods."""
        for name in names:
            self.store.create(PLACE, "t", {"metadata": {"name": name}})

    def fail(self, *replies: Reply) -> None:
        """Have the next requests fail."""
        self.api.scripted += [(PATH, reply) for reply in replies]

    async def deliver(self, change: Change[str]) -> None:
        """Take a change."""
        await self.inbox.put((asyncio.get_running_loop().time(), change))

    async def next(self) -> Change[str]:
        """Return the next change."""
        return (await self.inbox.get())[1]

    async def timed(self) -> tuple[float, Change[str]]:
        """Return the next change and when it was told."""
        return await self.inbox.get()

    async def until(self, kind: type[Any]) -> list[Change[str]]:
        """Return the changes up to one of this kind."""
        told = [await self.next()]
        while not isinstance(told[-1], kind):
            told.append(await self.next())
        return told

    @property
    def watches(self) -> list[Asked]:
        """Return the watches that were asked for."""
        return [each for each in self.api.asked if "watch" in each.query]

    @property
    def lists(self) -> list[Asked]:
        """Return the pages that were asked for."""
        return [each for each in self.api.asked if "watch" not in each.query]


def played(
    followed: Followed,
    play: Callable[[], Coroutine[Any, Any, None]],
    *,
    kind: Kind[str] = NAMES,
    scope: Scope = EVERYWHERE,
) -> None:
    """Follow pods while something happens."""

    async def whole() -> None:
        waiting = Waiting(clock=LoopClock(), rng=FirstRng(), pause=asyncio.sleep)
        cluster = KubeCluster(Direct(followed.api), waiting=waiting)
        task = asyncio.create_task(cluster.follow(kind, followed.deliver, scope=scope))
        playing = asyncio.ensure_future(play())
        await asyncio.wait([task, playing], return_when=asyncio.FIRST_COMPLETED)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await playing

    run(whole())


def test_a_list_comes_in_pages_and_a_watch_begins_where_it_ends() -> None:
    pods = Followed()
    pods.put("a", "b", "c")

    async def play() -> None:
        told = await pods.until(Synced)
        await pods.api.until_watched()

        assert [each.record for each in told if isinstance(each, Added)] == ["a", "b", "c"]
        assert told[-1] == Synced("103")
        assert [each.query.get("continue") for each in pods.lists] == [None, "1:2"]
        (watch,) = pods.watches
        assert watch.query["resourceVersion"] == "103"
        assert watch.query["allowWatchBookmarks"] == "true"
        assert WATCH_S_MIN <= int(watch.query["timeoutSeconds"]) < 2 * WATCH_S_MIN

    played(pods, play)


def test_selectors_and_a_namespace_are_asked_for() -> None:
    pods = Followed()

    async def play() -> None:
        await pods.until(Synced)
        await pods.api.until_watched()

        for asked in pods.api.asked:
            assert asked.path == "/api/v1/namespaces/t/pods"
            assert asked.query["labelSelector"] == "a=b"
            assert asked.query["fieldSelector"] == "spec.nodeName="

    played(pods, play, scope=Scope(namespace="t", labels="a=b", fields="spec.nodeName="))


def test_a_list_that_expires_in_the_middle_begins_again_and_tells_nothing_twice() -> None:
    pods = Followed()
    pods.put("a", "b", "c")

    async def play() -> None:
        first = [await pods.next()]
        pods.api.expire_pages()
        rest = await pods.until(Synced)

        told = [each.record for each in (*first, *rest) if isinstance(each, Added)]
        assert told == ["a", "b", "c"]
        assert [each.query.get("continue") for each in pods.lists] == [None, "1:2", None, "2:2"]

    pods.inbox = asyncio.Queue(1)
    played(pods, play)


def test_a_list_that_keeps_expiring_is_asked_for_in_one_piece() -> None:
    pods = Followed()
    pods.put("a", "b", "c")
    pods.fail(*[status(Refused(410, "Expired", "too old"))] * (1 + RESTARTS_MAX))

    async def play() -> None:
        told = await pods.until(Synced)

        assert len(told) == 4
        assert [each.query.get("limit") for each in pods.lists] == ["500", "500", "500", None]

    played(pods, play)


def test_what_was_deleted_or_made_anew_while_nobody_heard_is_told_as_the_difference() -> None:
    pods = Followed()
    pods.put("a", "b", "c")

    async def play() -> None:
        before = {
            each.key: each.uid for each in await pods.until(Synced) if isinstance(each, Added)
        }
        await pods.api.until_watched()
        pods.fail(status(Refused(410, "Expired", "too old")))
        pods.api.order("cut")
        await pods.until(Interrupted)
        for name in ("a", "b"):
            pods.store.delete(PLACE, "t", name, {})
        pods.put("b", "d")
        pods.store.merge(PLACE, "t", "c", {"metadata": {"labels": {"l": "1"}}})
        pods.store.forget()
        told = [
            each for each in await pods.until(Synced) if isinstance(each, Added | Updated | Deleted)
        ]

        assert [(type(each), each.key) for each in told] == [
            (Deleted, "t/b"),
            (Added, "t/b"),
            (Updated, "t/c"),
            (Added, "t/d"),
            (Deleted, "t/a"),
        ]
        assert told[0].uid == before["t/b"] != told[1].uid

    played(pods, play)


@pytest.mark.parametrize("in_watch", [False, True])
def test_a_version_that_is_forgotten_is_listed_again(*, in_watch: bool) -> None:
    pods = Followed()
    pods.put("a")
    pods.api.tells_gone_in_watch = in_watch

    async def play() -> None:
        await pods.until(Synced)
        await pods.api.until_watched()
        pods.api.order("cut")
        await asyncio.sleep(0.01)
        pods.put("b")
        pods.store.forget()
        told = await pods.until(Synced)

        faults = [each.fault for each in told if isinstance(each, Interrupted)]
        assert isinstance(faults[-1], Gone)
        assert [each.record for each in told if isinstance(each, Added)] == ["b"]

    played(pods, play)


def test_a_cut_watch_goes_on_where_it_was_without_a_list() -> None:
    pods = Followed()

    async def play() -> None:
        await pods.until(Synced)
        await pods.api.until_watched()
        pods.put("a")
        await pods.next()
        pods.api.order("cut")
        interrupted = await pods.next()
        pods.put("b")
        resumed, added = await pods.next(), await pods.next()

        assert isinstance(interrupted, Interrupted)
        assert isinstance(interrupted.fault, Unreachable)
        assert isinstance(resumed, Resumed)
        assert isinstance(added, Added)
        assert [each.query["resourceVersion"] for each in pods.watches] == ["100", "101"]
        assert len(pods.lists) == 1

    played(pods, play)


def test_a_watch_that_the_server_ends_in_time_is_no_failure() -> None:
    pods = Followed()

    async def play() -> None:
        await pods.until(Synced)
        await asyncio.sleep(WATCH_S_MIN + 1)

        assert len(pods.watches) == 2
        assert len(pods.lists) == 1
        while not pods.inbox.empty():
            assert isinstance(await pods.next(), Synced)

    played(pods, play)


def test_a_watch_that_the_server_ends_at_once_is_a_failure() -> None:
    pods = Followed()

    async def play() -> None:
        await pods.until(Synced)
        await pods.api.until_watched()
        pods.api.order("end")
        (interrupted,) = await pods.until(Interrupted)

        assert isinstance(interrupted, Interrupted)
        assert "ended the watch of /api/v1/pods at once" in str(interrupted.fault)

    played(pods, play)


def test_a_silent_connection_is_taken_for_dead() -> None:
    pods = Followed()

    async def play() -> None:
        await pods.until(Synced)
        await pods.api.until_watched()
        pods.api.order("silence")
        pods.put("a")
        begun_s = asyncio.get_running_loop().time()
        when_s, interrupted = await pods.timed()
        told = await pods.until(Added)

        assert isinstance(interrupted, Interrupted)
        assert isinstance(interrupted.fault, Silent)
        assert when_s == begun_s + SILENCE_S_MAX
        assert isinstance(told[-1], Added)

    played(pods, play)


def test_bookmarks_keep_a_quiet_watch_alive_and_move_it_on() -> None:
    pods = Followed()

    async def play() -> None:
        await pods.until(Synced)
        await pods.api.until_watched()
        pods.store.create(("", "nodes"), "", {"metadata": {"name": "n"}})
        (synced,) = await pods.until(Synced)
        await asyncio.sleep(2 * SILENCE_S_MAX - 90.0)
        pods.api.order("cut")
        await pods.until(Resumed)

        assert synced == Synced("101")
        assert [each.query["resourceVersion"] for each in pods.watches] == ["100", "101"]

    played(pods, play)


def test_waiting_grows_and_starts_anew_after_a_success() -> None:
    pods = Followed()
    pods.fail(*[status(Refused(403, "Forbidden", "not yours"))] * 9)

    async def play() -> None:
        told = [await pods.timed() for _ in range(9)]
        await pods.until(Synced)
        await pods.api.until_watched()
        pods.put("a")
        pods.api.order("cut")
        after_success = (await pods.until(Interrupted))[-1]

        gaps = [round(after - before, 2) for (before, _), (after, _) in pairwise(told)]
        assert gaps == [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 15.0]
        failures = [each.failures for _, each in told if isinstance(each, Interrupted)]
        assert failures == list(range(1, 10))
        assert isinstance(after_success, Interrupted)
        assert after_success.failures == 1
        assert all(
            isinstance(each.fault, Denied) for _, each in told if isinstance(each, Interrupted)
        )

    played(pods, play)


def test_a_server_that_is_busy_is_left_alone_as_long_as_it_wants() -> None:
    pods = Followed()
    busy = Refused(429, "TooManyRequests", "busy")
    pods.fail(status(busy, retry_after="60"), status(busy, retry_after="86400"))

    async def play() -> None:
        first_s, first = await pods.timed()
        second_s, _ = await pods.timed()
        third_s, third = await pods.timed()

        assert isinstance(first, Interrupted)
        assert isinstance(first.fault, Throttled)
        assert second_s - first_s == 60.0
        assert third_s - second_s == RETRY_AFTER_S_MAX
        assert isinstance(third, Resumed)

    played(pods, play)


def test_a_watch_that_keeps_failing_is_listed_again() -> None:
    pods = Followed()

    async def play() -> None:
        await pods.until(Synced)
        await pods.api.until_watched()
        fault = status(Refused(504, "Timeout", "Too large resource version"))
        pods.fail(*[fault] * WATCH_FAILURES_MAX)
        pods.api.order("cut")
        told = await pods.until(Synced)

        assert (
            len([each for each in told if isinstance(each, Interrupted)]) == WATCH_FAILURES_MAX + 1
        )
        assert len(pods.lists) == 2

    played(pods, play)


def test_a_server_that_is_away_is_not_listed_again() -> None:
    pods = Followed()

    async def play() -> None:
        await pods.until(Synced)
        await pods.api.until_watched()
        pods.fail(*[Reply(cuts=True)] * 20)
        pods.api.order("cut")
        await pods.until(Resumed)

        assert len(pods.lists) == 1

    played(pods, play)


def test_a_server_that_was_restored_from_a_backup_is_listed_again() -> None:
    pods = Followed()
    pods.put("a", "b")

    async def play() -> None:
        await pods.until(Synced)
        await pods.api.until_watched()
        pods.store.restore(50)
        pods.put("c")
        pods.store.delete(PLACE, "t", "a", {})
        pods.api.order("cut")
        told = [each for each in await pods.until(Synced) if isinstance(each, Added | Deleted)]

        assert [each.key for each in told] == ["t/c", "t/a"]
        in_vain = [each for each in pods.watches if each.query["resourceVersion"] == "102"]
        assert len(in_vain) == 1 + WATCH_FAILURES_MAX

    played(pods, play)


def test_nothing_is_read_while_a_delivery_waits() -> None:
    pods = Followed()
    pods.put(*"abcdef")
    pods.inbox = asyncio.Queue(1)

    async def play() -> None:
        await asyncio.sleep(WATCH_S_MIN)
        pages = len(pods.lists)
        told = await pods.until(Synced)

        assert pages == 1
        assert len(told) == 7
        assert len(pods.lists) == 3

    played(pods, play)


def test_the_next_version_is_tried_where_one_is_not_served() -> None:
    pods = Followed()
    resource = Resource(kind="Pod", plural="pods", versions=("v2", "v1"))
    pods.api.scripted.append(("/api/v2", status(Refused(404, "NotFound", ""))))

    async def play() -> None:
        told = await pods.until(Synced)

        assert isinstance(told[0], Interrupted)
        assert isinstance(told[0].fault, NotServed)
        assert [each.path for each in pods.lists] == ["/api/v2/pods", PATH]

    played(pods, play, kind=Kind(resource, name_of))


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        (b"<html>\n", Malformed),
        (
            b'{"type":"RENAMED","object":{"metadata":{"name":"a","resourceVersion":"200"}}}\n',
            Malformed,
        ),
        (b'{"type":"ERROR","object":{"code":500,"message":"no leader"}}\n', Failing),
        (b'{"type":"ERROR","object":{"reason":"Expired"}}\n', Gone),
    ],
)
def test_a_line_that_is_no_event_ends_the_watch(line: bytes, fault: type[Exception]) -> None:
    pods = Followed()

    async def play() -> None:
        await pods.until(Synced)
        await pods.api.until_watched()
        for each in pods.api.watchers:
            each.queue.put_nowait(line)
        (interrupted,) = await pods.until(Interrupted)

        assert isinstance(interrupted, Interrupted)
        assert isinstance(interrupted.fault, fault)
        assert isinstance((await pods.until(Resumed))[-1], Resumed)

    played(pods, play)


def test_objects_that_are_none_are_skipped_in_lists_and_watches() -> None:
    pods = Followed()
    page = b'{"kind":"PodList","metadata":{"resourceVersion":"100"},"items":[7,{"metadata":{"name":"a"}}]}'
    pods.fail(Reply(body=page))

    async def play() -> None:
        listed = await pods.until(Synced)
        await pods.api.until_watched()
        for each in pods.api.watchers:
            each.queue.put_nowait(b'{"type":"ADDED","object":{"metadata":[]}}\n')
        told = await pods.next()

        assert [type(each) for each in listed] == [Skipped, Added, Synced]
        assert isinstance(told, Skipped)

    played(pods, play)


def test_an_empty_list_may_be_null() -> None:
    pods = Followed()
    pods.fail(Reply(body=b'{"kind":"PodList","metadata":{"resourceVersion":"100"},"items":null}'))

    async def play() -> None:
        assert await pods.until(Synced) == [Synced("100")]

    played(pods, play)


@pytest.mark.parametrize("items", [b"7", b'{"a":1}'])
def test_a_list_of_something_else_is_malformed(items: bytes) -> None:
    pods = Followed()
    body = b'{"kind":"PodList","metadata":{"resourceVersion":"100"},"items":' + items + b"}"
    pods.fail(Reply(body=body))

    async def play() -> None:
        told = await pods.until(Synced)

        assert [type(each) for each in told] == [Interrupted, Resumed, Synced]
        assert isinstance(told[0], Interrupted)
        assert isinstance(told[0].fault, Malformed)

    played(pods, play)


def test_a_watch_that_is_cut_inside_an_object_goes_on_before_it() -> None:
    pods = Followed()

    async def play() -> None:
        await pods.until(Synced)
        await pods.api.until_watched()
        for each in pods.api.watchers:
            each.queue.put_nowait(b'{"type":"ADDED","object":{"metadata":{"na')
            each.queue.put_nowait("end")
        told = [await pods.next(), await pods.next()]

        assert isinstance(told[0], Interrupted)
        assert "cut inside an object" in str(told[0].fault)
        assert [each.query["resourceVersion"] for each in pods.watches] == ["100", "100"]

    played(pods, play)


def test_what_no_version_is_served_of_is_asked_for_again() -> None:
    leases = Followed()
    leases.api.scripted.append(("/apis/coordination", status(Refused(404, "NotFound", ""))))

    async def play() -> None:
        told = await leases.until(Synced)

        assert [type(each) for each in told] == [Interrupted, Resumed, Synced]

    played(leases, play, kind=Kind(LEASES, name_of))
