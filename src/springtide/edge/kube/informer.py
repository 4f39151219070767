"""Follows the objects of one kind: lists them, watches them, and never ends by itself.

A watch goes on where the last one ended. A version that the server has forgotten means to list again,
and so do failures of one watch after another. What is delivered is `edge.cluster.changes`: in order,
each difference once. An object that cannot be decoded is told and left out, the others go on.
Waiting is by chance and longer each time; nothing is read while a delivery waits.
"""

import asyncio
from contextlib import aclosing
from typing import Final, Generic, Never, TypeVar

import msgspec

from springtide.base.clock import Clock, Rng
from springtide.base.errors import SpringtideError
from springtide.edge.cluster.changes import (
    Added,
    Deleted,
    Interrupted,
    Resumed,
    Skipped,
    Synced,
    Updated,
)
from springtide.edge.cluster.errors import (
    Broken,
    ClusterFault,
    Failing,
    Gone,
    Malformed,
    NotServed,
    Silent,
    Throttled,
)
from springtide.edge.cluster.kinds import Kind, Scope
from springtide.edge.cluster.port import Deliver
from springtide.edge.kube.asking import Patience, Pause
from springtide.edge.kube.known import Header, Known, News
from springtide.edge.kube.listing import PAGE_OBJECTS, RESTARTS_MAX, Page, paged
from springtide.edge.kube.transport import Answer, Query, Request, Transport
from springtide.edge.kube.watching import Told, watched

WATCH_S_MIN: Final = 300
"""The server ends a watch after this time and up to as much again, so that load moves on."""
SILENCE_S_MAX: Final = 150.0
"""API servers send a bookmark a minute, or a little later."""
RETRY_AFTER_S_MAX: Final = 120.0
WATCH_FAILURES_MAX: Final = 3
"""After so many failed watches in a row the objects are listed again."""
_WATCH_S_SHORTEST: Final = 1.0

T = TypeVar("T")


class Waiting(msgspec.Struct, frozen=True, kw_only=True):
    """The time and chance that an informer waits by, and for how long it stands silence."""

    clock: Clock
    rng: Rng
    pause: Pause = asyncio.sleep
    silence_s_max: float = SILENCE_S_MAX

    @property
    def patience(self) -> Patience:
        """Return how to wait between tries."""
        return Patience(rng=self.rng, pause=self.pause)


class _Item(msgspec.Struct, frozen=True, gc=False):
    metadata: Header


_ITEM: Final = msgspec.json.Decoder(_Item)
_ITEMS: Final = msgspec.json.Decoder(list[msgspec.Raw])
# What decoders raise for one object; anything else is a bug.
_UNREADABLE: Final = (SpringtideError, msgspec.MsgspecError, ValueError, RecursionError)


class Informer(Generic[T]):
    """One kind, followed."""

    def __init__(
        self,
        transport: Transport,
        kind: Kind[T],
        deliver: Deliver[T],
        *,
        scope: Scope,
        waiting: Waiting,
    ) -> None:
        self._transport = transport
        self._kind = kind
        self._deliver = deliver
        self._scope = scope
        self._waiting = waiting
        self._known = Known()
        self._api_version = 0
        self._position = ""
        self._failures = 0
        self._is_interrupted = False

    async def run(self) -> Never:
        """List and watch until cancelled."""
        while True:
            try:
                if not self._position:
                    await self._list_whole()
                await self._watch()
            except NotServed as fault:
                self._position = ""
                self._api_version = (self._api_version + 1) % len(self._kind.resource.versions)
                await self._failed(fault)
            except ClusterFault as fault:
                if self._is_to_be_listed(fault):
                    self._position = ""
                await self._failed(fault)

    def _is_to_be_listed(self, fault: ClusterFault) -> bool:
        """Return whether a watch has no hope to go on; a server that is away will know where.

        One that was restored from a backup says nothing until it comes to our version again.
        """
        is_hopeless = isinstance(fault, Failing | Silent) and self._failures >= WATCH_FAILURES_MAX
        return is_hopeless or isinstance(fault, Gone | Malformed)

    # ---- lists

    async def _list_whole(self) -> None:
        for _ in range(1 + RESTARTS_MAX):
            try:
                return await self._list(page_objects=PAGE_OBJECTS)
            except Gone:
                continue
        return await self._list(page_objects=0)

    async def _list(self, *, page_objects: int) -> None:
        listed: set[str] = set()
        version = ""
        listing = paged(
            self._get,
            self._path,
            self._query,
            patience=self._waiting.patience,
            page_objects=page_objects,
        )
        async with aclosing(listing):
            async for page, _ in listing:
                version = page.version
                await self._resumed()
                await self._take_page(page, listed)
        for key in self._known.beyond(listed):
            await self._gone(key)
        self._position = version
        await self._deliver(Synced(version))

    async def _take_page(self, page: Page, listed: set[str]) -> None:
        for item in self._items(page):
            header = await self._header(item)
            if header is not None:
                key = header.key
                listed.add(key)
                await self._take(item, header, key)

    def _items(self, page: Page) -> list[msgspec.Raw]:
        try:
            # A server without objects of a kind may say null.
            return [] if bytes(page.items) == b"null" else _ITEMS.decode(page.items)
        except msgspec.DecodeError as fault:
            raise self._malformed(str(fault)) from fault

    async def _get(self, path: str, query: Query) -> Answer:
        return await self._transport.send(Request(method="GET", path=path, query=query))

    # ---- watches

    async def _watch(self) -> None:
        clock = self._waiting.clock
        begun_s = clock.monotonic_s()
        is_silent = True
        watch_s = WATCH_S_MIN + self._waiting.rng.choice_index(WATCH_S_MIN)
        query = [
            *self._query,
            ("watch", "1"),
            ("allowWatchBookmarks", "true"),
            ("resourceVersion", self._position),
            ("timeoutSeconds", str(watch_s)),
        ]
        told = watched(
            self._transport, self._path, query, silence_s_max=self._waiting.silence_s_max
        )
        async with aclosing(told):
            async for each in told:
                await self._resumed()
                for one in each:
                    is_silent = False
                    await self._hear(one)
        if is_silent and clock.monotonic_s() - begun_s < _WATCH_S_SHORTEST:
            raise Broken(
                f"The API server ended the watch of {self._path} at once. Look at its health."
            )
        self._failures = 0

    async def _hear(self, told: Told) -> None:
        header = await self._header(told.object)
        if header is None or _is_old(told.type, header.resource_version, self._position):
            return
        match told.type:
            case "ADDED" | "MODIFIED":
                await self._take(told.object, header, header.key)
            case "DELETED":
                await self._gone(header.key)
            case "BOOKMARK":
                await self._deliver(Synced(header.resource_version))
            case _:
                raise self._malformed(f"there is no event {told.type}")
        self._position = header.resource_version
        self._failures = 0

    # ---- what is told

    async def _take(self, item: msgspec.Raw, header: Header, key: str) -> None:
        news = self._known.news(header, key)
        if news is News.NOTHING:
            return
        if news is News.REPLACED:
            await self._gone(key)
        try:
            record = self._kind.decode(item)
        except _UNREADABLE as fault:
            self._known.skip(header, key)
            version = header.resource_version
            await self._deliver(Skipped(key=key, version=version, why=str(fault)))
            return
        self._known.tell(header, key)
        change = Updated if news is News.UPDATED else Added
        await self._deliver(
            change(key=key, uid=header.uid, version=header.resource_version, record=record)
        )

    async def _gone(self, key: str) -> None:
        uid = self._known.forget(key)
        if uid is not None:
            await self._deliver(Deleted(key, uid))

    async def _failed(self, fault: ClusterFault) -> None:
        """Tell of a failure, and wait."""
        self._failures += 1
        self._is_interrupted = True
        await self._deliver(Interrupted(fault, self._failures))
        wanted_s = fault.retry_after_s if isinstance(fault, Throttled | Failing) else None
        at_least_s = None if wanted_s is None else min(wanted_s, RETRY_AFTER_S_MAX)
        await self._waiting.patience.wait(self._failures - 1, at_least_s)

    async def _resumed(self) -> None:
        if self._is_interrupted:
            self._is_interrupted = False
            await self._deliver(Resumed())

    # ---- what is asked

    @property
    def _path(self) -> str:
        resource = self._kind.resource
        return resource.path(resource.versions[self._api_version], self._scope.namespace)

    @property
    def _query(self) -> list[tuple[str, str]]:
        labels = self._scope.labels or self._kind.resource.selector
        asked = [("labelSelector", labels), ("fieldSelector", self._scope.fields)]
        return [(name, value) for name, value in asked if value]

    async def _header(self, item: msgspec.Raw) -> Header | None:
        """Return what tells the object from others, or tell that nothing does."""
        try:
            return _ITEM.decode(item).metadata
        except msgspec.DecodeError as fault:
            await self._deliver(Skipped(key="", version="", why=str(fault)))
            return None

    def _malformed(self, why: str) -> Malformed:
        return Malformed(
            f"What came for {self._path} is no object of the API ({why}). "
            "Check that the kubeconfig names an API server."
        )


def _is_old(kind: str, version: str, position: str) -> bool:
    """Return whether an event was told before: versions that are numbers grow along a watch.

    A deletion may carry the last version of its object, and a bookmark repeats where we are.
    """
    if not (version.isdecimal() and position.isdecimal()):
        return False
    behind = int(position) - int(version)
    return behind > 0 or (behind == 0 and kind in {"ADDED", "MODIFIED"})
