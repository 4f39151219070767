"""The HTTP surface: which path does what, and how a question that cannot be understood is answered.

kube-scheduler looks at nothing but the body of an answer of status 200, so that is where faults of filter
and bind calls are told; answers to prioritize calls have no place for them. Nothing that a caller sends ends the process.
"""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Final
from urllib.parse import parse_qs

import msgspec
from uvicorn._types import ASGIReceiveCallable, ASGISendCallable, HTTPScope, Scope

from springtide.apps.extender.log import Log
from springtide.edge.serving import (
    Budget,
    Gone,
    Limits,
    Overloaded,
    Reply,
    TooLarge,
    TooSlow,
    read,
    send_reply,
)
from springtide.edge.serving.protocol import PEER

TEXT: Final = "text/plain; charset=utf-8"

Take = Callable[[bytearray, HTTPScope], Awaitable[Reply]]
Show = Callable[[Mapping[str, list[str]]], Awaitable[Reply]]
Refuse = Callable[[str, int], bytes]
"""Writes the answer to a body that cannot be read, from what is wrong and the status that it means."""


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """A path that is posted to; `has_status` says that whoever asks goes by the status of a fault."""

    take: Take
    refuse: Refuse
    limits: Limits
    needs_peer: bool = True
    has_status: bool = False

    def refused(self, why: str, status: int, *, closes: bool = False) -> Reply:
        """Return the answer to a body that cannot be taken."""
        told = status if self.has_status else 200
        return Reply(body=self.refuse(why, status), status=told, closes=closes)


class Page(msgspec.Struct, frozen=True):
    """A path that is looked at; it gets the query."""

    show: Show


Paths = Mapping[str, Call | Page]


class Application:
    """Answers requests by the table of paths."""

    def __init__(self, paths: Paths, *, budget: Budget, needs_peer: bool = False, log: Log) -> None:
        self._paths = paths
        self._budget = budget
        self._needs_peer = needs_peer
        self._log = log

    async def __call__(
        self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable
    ) -> None:
        """Answer one request."""
        assert scope["type"] == "http"
        with suppress(Gone):
            await send_reply(send, await self._reply(scope, receive))

    async def _reply(self, scope: HTTPScope, receive: ASGIReceiveCallable) -> Reply:
        found = self._paths.get(scope["path"])
        method = scope["method"]
        if found is None:
            return _text(404, "There is no such path.")
        if isinstance(found, Page):
            if method not in ("GET", "HEAD"):
                return _text(405, "This path is only looked at.", allow="GET, HEAD")
            return await self._shown(found, scope)
        if method != "POST":
            return _text(405, "This path is only posted to.", allow="POST")
        if self._needs_peer and found.needs_peer and not scope["state"].get(PEER):
            return _text(403, "Show a client certificate.")
        return await self._called(found, scope, receive)

    async def _called(self, call: Call, scope: HTTPScope, receive: ASGIReceiveCallable) -> Reply:
        with self._budget.shared() as share:
            try:
                body = await read(scope, receive, limits=call.limits, share=share)
            except TooLarge as fault:
                return call.refused(str(fault), 413, closes=True)
            except TooSlow as fault:
                return call.refused(str(fault), 408, closes=True)
            except Overloaded as fault:
                return _text(503, str(fault), closes=True)
            try:
                return await call.take(body, scope)
            except Exception as bug:  # noqa: BLE001 - the top of a request
                self._bug(scope, bug)
                return call.refused("an internal error; see the log", 500)

    async def _shown(self, page: Page, scope: HTTPScope) -> Reply:
        query = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        try:
            return await page.show(query)
        except Exception as bug:  # noqa: BLE001 - the top of a request
            self._bug(scope, bug)
            return _text(500, "An internal error; see the log.")

    def _bug(self, scope: HTTPScope, bug: Exception) -> None:
        self._log("bug", is_fault=True, where=scope["path"], message=repr(bug))


def _text(status: int, text: str, *, allow: str = "", closes: bool = False) -> Reply:
    return Reply(
        body=f"{text}\n".encode(), status=status, content_type=TEXT, allow=allow, closes=closes
    )
