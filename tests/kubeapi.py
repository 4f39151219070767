"""An API server over an object store: what it answers, how it watches, and how it fails when told to.

`answer` and `watch` are the server; `direct` asks them without a network, for virtual time, and `served`
puts them behind HTTP. `scripted` replies go first, each once, to the requests whose path begins so.
"""

import asyncio
import itertools
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import Any, Literal

import msgspec
from aiohttp import web

from springtide.edge.cluster.errors import Broken, TimedOut
from springtide.edge.kube.transport import Answer, Query, Request
from tests.objectstore import KINDS, Entry, Object, ObjectStore, Place, Refused, matches

Order = Literal["end", "cut", "silence"]
TIMEOUT_S = 30.0
WAIT_S_MIN = 0.001
"""Sums of floats may end a little early, and virtual time would stand still before what is left."""


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """What is sent instead of the answer; `cuts` breaks the connection off, `hangs` sends nothing."""

    status: int = 200
    body: bytes = b""
    retry_after: str = ""
    cuts: bool = False
    hangs: bool = False


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """One request."""

    method: str
    path: str
    query: Mapping[str, str]
    body: Any = None


class _Address(msgspec.Struct, frozen=True, kw_only=True):
    place: Place
    namespace: str
    name: str
    subresource: str


def status(refused: Refused, *, retry_after: str = "") -> Reply:
    """Return a refusal as an API server words it."""
    cause = {"reason": refused.cause, "field": refused.field}
    causes = [cause] if any(cause.values()) else []
    body = {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "message": refused.message,
        "reason": refused.reason,
        "code": refused.code,
        "details": {"causes": causes},
    }
    return Reply(status=refused.code, body=json.dumps(body).encode(), retry_after=retry_after)


class _Watcher:
    """One watch: lines to send, and orders to fail."""

    def __init__(self, api: "KubeApi", place: Place, asked: Asked) -> None:
        self.queue: asyncio.Queue[bytes | Order] = asyncio.Queue()
        self.asked = asked
        self._api = api
        self._place = place
        self._namespace = _address(asked.path).namespace
        self._version = int(asked.query.get("resourceVersion", "0"))

    def hear(self, entry: Entry) -> None:
        """Send what a change is to somebody who sees only what the selectors choose."""
        if entry.place != self._place or not self._is_in_namespace(entry):
            return
        self._version = entry.version
        was, now = (matches_query(self.asked, each) for each in (entry.before, entry.after))
        if now and entry.after is not None:
            self.queue.put_nowait(self._line("MODIFIED" if was else "ADDED", entry.after))
        elif was and entry.before is not None:
            metadata = {**entry.before["metadata"], "resourceVersion": str(entry.version)}
            self.queue.put_nowait(self._line("DELETED", {**entry.before, "metadata": metadata}))

    def bookmark(self) -> bytes:
        """Return a line that says how far everything is told, none before that is news."""
        version = self._api.store.version
        if version < self._version:
            return b""
        return self._line("BOOKMARK", {"metadata": {"resourceVersion": str(version)}})

    def _line(self, kind: str, each: Object) -> bytes:
        whole = {"kind": KINDS[self._place], **each}
        return json.dumps({"type": kind, "object": whole}).encode() + b"\n"

    def _is_in_namespace(self, entry: Entry) -> bool:
        each = entry.after or entry.before
        assert each is not None
        return not self._namespace or each["metadata"].get("namespace") == self._namespace


class KubeApi:
    """The server."""

    def __init__(
        self, store: ObjectStore, *, page_objects: int = 500, bookmark_s: float = 60.0
    ) -> None:
        self.store = store
        self.asked: list[Asked] = []
        self.scripted: list[tuple[str, Reply]] = []
        self.tells_gone_in_watch = False
        self.watchers: set[_Watcher] = set()
        self._page_objects = page_objects
        self._bookmark_s = bookmark_s
        self._snapshots: dict[str, tuple[int, list[Object]]] = {}
        self._tokens = itertools.count(1)
        self._watched = asyncio.Event()

    def order(self, order: Order) -> None:
        """Have all watches end, break off or fall silent, once they have sent what they have."""
        for each in self.watchers:
            each.queue.put_nowait(order)

    def bookmark(self) -> None:
        """Have all watches send a bookmark."""
        for each in self.watchers:
            each.queue.put_nowait(each.bookmark())

    def repeat(self, entry: Entry) -> None:
        """Have all watches tell a change again."""
        for each in self.watchers:
            each.hear(entry)

    def expire_pages(self) -> None:
        """Forget the lists that somebody is in the middle of."""
        self._snapshots.clear()

    async def until_watched(self) -> None:
        """Wait until somebody watches."""
        while not self.watchers:
            self._watched.clear()
            await self._watched.wait()

    def script(self, asked: Asked) -> Reply | None:
        """Return what was to be replied out of turn."""
        for index, (prefix, reply) in enumerate(self.scripted):
            if asked.path.startswith(prefix):
                del self.scripted[index]
                return reply
        return None

    def answer(self, asked: Asked) -> Reply:
        """Return what to send back to everything but a watch."""
        try:
            return self._answer(asked, _address(asked.path))
        except Refused as refused:
            return status(refused)

    async def watch(self, asked: Asked) -> AsyncGenerator[bytes | Reply, None]:
        """Yield the lines of a watch; a reply says that there is none, or how it breaks off."""
        try:
            place = _address(asked.path).place
            missed = self.store.since(place, int(asked.query["resourceVersion"]))
        except Refused as refused:
            reply = status(refused)
            yield b"" if self.tells_gone_in_watch else reply
            yield b'{"type":"ERROR","object":' + reply.body + b"}\n"
            return
        watcher = _Watcher(self, place, asked)
        for entry in missed:
            watcher.hear(entry)
        self.store.heard.append(watcher.hear)
        self.watchers.add(watcher)
        self._watched.set()
        try:
            yield b""
            async with aclosing(self._lines(watcher)) as lines:
                async for line in lines:
                    yield line
        finally:
            self.watchers.discard(watcher)
            self.store.heard.remove(watcher.hear)

    async def _lines(self, watcher: _Watcher) -> AsyncGenerator[bytes | Reply, None]:
        now_s = asyncio.get_running_loop().time
        end_s = now_s() + float(watcher.asked.query["timeoutSeconds"])
        while True:
            wait_s = min(self._bookmark_s, end_s - now_s())
            try:
                async with asyncio.timeout(max(wait_s, WAIT_S_MIN)):
                    line = await watcher.queue.get()
            except TimeoutError:
                if not watcher.queue.empty():
                    # It came with the last moment of waiting, and goes before any bookmark.
                    continue
                if now_s() >= end_s:
                    return
                line = watcher.bookmark()
            match line:
                case "end":
                    return
                case "cut":
                    yield Reply(cuts=True)
                    return
                case "silence":
                    await asyncio.get_running_loop().create_future()
                case b"":
                    pass
                case bytes():
                    yield line

    def _answer(self, asked: Asked, at: _Address) -> Reply:
        store, body = self.store, asked.body or {}
        match asked.method, at.subresource:
            case "GET", _:
                found = self._read(asked, at)
            case "POST", "":
                found = store.create(at.place, at.namespace, body)
            case "PUT", "":
                found = store.replace(at.place, at.namespace, body)
            case "PATCH", "":
                found = store.merge(at.place, at.namespace, at.name, body)
            case "PATCH", "status":
                apart = {key: body[key] for key in ("metadata", "status") if key in body}
                found = store.merge(at.place, at.namespace, at.name, apart)
            case "DELETE", "":
                conditions = body.get("preconditions", {})
                found = store.delete(at.place, at.namespace, at.name, conditions)
            case "POST", "binding":
                store.bind(at.namespace, at.name, body)
                found = {"kind": "Status", "status": "Success"}
            case "POST", "eviction":
                conditions = body.get("deleteOptions", {}).get("preconditions", {})
                store.evict(at.namespace, at.name, conditions)
                found = {"kind": "Status", "status": "Success"}
            case _:
                raise Refused(405, "MethodNotAllowed", "the server does not allow this method")
        code = 201 if asked.method == "POST" else 200
        return Reply(status=code, body=json.dumps(found).encode())

    def _read(self, asked: Asked, at: _Address) -> Object:
        if not at.name:
            return self._page(asked, at)
        found = self.store.read(at.place, at.namespace, at.name)
        return _scale(found) if at.subresource == "scale" else found

    def _page(self, asked: Asked, at: _Address) -> Object:
        token = asked.query.get("continue", "")
        name, _, offset = token.partition(":")
        if not token:
            chosen = [
                each
                for each in self.store.listed(at.place)
                if matches_query(asked, each)
                and (not at.namespace or each["metadata"].get("namespace") == at.namespace)
            ]
            name = str(next(self._tokens))
            self._snapshots[name] = (self.store.version, chosen)
        if name not in self._snapshots:
            raise Refused(410, "Expired", "The provided continue parameter is too old")
        version, chosen = self._snapshots[name]
        start = int(offset or 0)
        has_limit = "limit" in asked.query
        end = start + self._page_objects if has_limit else len(chosen)
        metadata = {"resourceVersion": str(version)}
        if end < len(chosen):
            metadata["continue"] = f"{name}:{end}"
        items = [
            {key: value for key, value in each.items() if key not in {"kind", "apiVersion"}}
            for each in chosen[start:end]
        ]
        return {"kind": f"{KINDS[at.place]}List", "metadata": metadata, "items": items}


def _scale(workload: Object) -> Object:
    """Return the part of a workload that scalers see."""
    parts = {
        part: {"replicas": workload.get(part, {}).get("replicas", 0)} for part in ("spec", "status")
    }
    return {"kind": "Scale", "metadata": workload["metadata"], **parts}


def matches_query(asked: Asked, each: Object | None) -> bool:
    """Return whether the selectors of a request choose an object."""
    labels, fields = (asked.query.get(key, "") for key in ("labelSelector", "fieldSelector"))
    return matches(labels, fields, each)


def _address(path: str) -> _Address:
    root, group, *rest = path.strip("/").split("/")
    if root == "apis":
        _, *rest = rest
    else:
        group = ""
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 2:
        _, namespace, *rest = rest
    plural, name, subresource, *_ = (*rest, "", "")
    if (group, plural) not in KINDS:
        raise Refused(404, "NotFound", "the server could not find the requested resource")
    return _Address(place=(group, plural), namespace=namespace, name=name, subresource=subresource)


class Direct:
    """The transport of somebody in the same process."""

    def __init__(self, api: KubeApi, *, latency_s: float = 0.0) -> None:
        self._api = api
        self._latency_s = latency_s

    async def send(self, request: Request) -> Answer:
        """Return the whole answer."""
        body = None if request.body is None else json.loads(json.dumps(request.body))
        asked = Asked(
            method=request.method, path=request.path, query=dict(request.query), body=body
        )
        self._api.asked.append(asked)
        reply = self._api.script(asked) or self._api.answer(asked)
        # Whoever asks a server waits for a moment, in which others do something.
        await asyncio.sleep(self._latency_s)
        return await _received(reply)

    @asynccontextmanager
    async def stream(self, path: str, query: Query) -> AsyncIterator["_Lines"]:
        """Open a watch."""
        asked = Asked(method="GET", path=path, query=dict(query))
        self._api.asked.append(asked)
        scripted = self._api.script(asked)
        async with aclosing(_scripted(scripted) if scripted else self._api.watch(asked)) as lines:
            first = await anext(lines)
            if isinstance(first, Reply):
                answer = await _received(first)
                yield _Lines(_once(answer.body), answer)
            else:
                yield _Lines(lines, Answer(status=200, body=b""))


class _Lines:
    def __init__(self, lines: AsyncGenerator[bytes | Reply, None], answer: Answer) -> None:
        self.status = answer.status
        self.retry_after = answer.retry_after
        self._lines = lines

    async def chunk(self) -> bytes:
        """Return the next line."""
        line = await anext(self._lines, b"")
        if isinstance(line, Reply):
            raise Broken("The connection was cut, as ordered.")
        return line


async def _scripted(reply: Reply) -> AsyncGenerator[bytes | Reply, None]:
    yield reply


async def _once(body: bytes) -> AsyncGenerator[bytes | Reply, None]:
    yield body


async def _received(reply: Reply) -> Answer:
    if reply.hangs:
        await asyncio.sleep(TIMEOUT_S)
        raise TimedOut("Nothing came, as ordered.")
    if reply.cuts:
        raise Broken("The connection was cut, as ordered.")
    return Answer(status=reply.status, body=reply.body, retry_after=reply.retry_after)


@asynccontextmanager
async def served(api: KubeApi) -> AsyncIterator[str]:
    """Serve it by HTTP as long as the block; yields where."""
    application = web.Application(client_max_size=1 << 24)
    application.router.add_route("*", "/{path:.*}", _handler(api))
    runner = web.AppRunner(
        application, access_log=None, shutdown_timeout=0.1, handler_cancellation=True
    )
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


def _handler(api: KubeApi) -> Any:
    async def handle(request: web.Request) -> web.StreamResponse:
        text = await request.read()
        asked = Asked(
            method=request.method,
            path=request.path,
            query=dict(request.query),
            body=json.loads(text) if text else None,
        )
        api.asked.append(asked)
        scripted = api.script(asked)
        if scripted is not None:
            return await _sent(request, scripted)
        if "watch" in asked.query:
            return await _stream(api, request, asked)
        return await _sent(request, api.answer(asked))

    return handle


async def _sent(request: web.Request, reply: Reply) -> web.StreamResponse:
    if reply.hangs:
        await asyncio.get_running_loop().create_future()
    if reply.cuts:
        _abort(request)
    headers = {"Retry-After": reply.retry_after} if reply.retry_after else {}
    return web.Response(
        status=reply.status, body=reply.body, headers=headers, content_type="application/json"
    )


async def _stream(api: KubeApi, request: web.Request, asked: Asked) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    async with aclosing(api.watch(asked)) as lines:
        first = await anext(lines)
        if isinstance(first, Reply):
            return await _sent(request, first)
        await response.prepare(request)
        # An empty line gets the head of the answer on its way, and means nothing.
        await response.write(b"\n")
        async for line in lines:
            if isinstance(line, Reply):
                _abort(request)
            else:
                await response.write(line)
    return response


def _abort(request: web.Request) -> None:
    assert request.transport is not None
    request.transport.abort()
    raise ConnectionResetError
