"""Answers requests by a table of routes, and keeps callers within bounds.

Nothing that a caller sends ends the process: a bug in what answers is told and becomes an answer.
"""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final
from urllib.parse import parse_qs

from msgspec.structs import replace
from uvicorn._types import ASGIReceiveCallable, ASGISendCallable, HTTPScope, Scope

from springtide.edge.serving.bodies import (
    Budget,
    Gone,
    Overloaded,
    Share,
    TooLarge,
    TooSlow,
    read,
)
from springtide.edge.serving.protocol import PEER
from springtide.edge.serving.replies import Reply, in_words, send_reply
from springtide.edge.serving.routes import Asked, Found, Refuse, Route, Routes
from springtide.wire.openapi import TEXT, Content

TellBug = Callable[[str, Exception], None]
"""Takes the path at which a bug came to light, and the bug."""
Guard = Callable[[Route, Asked], Awaitable[str | Reply]]
"""Says who is asking, or answers in the place of the route; a body has not been read yet."""

BUG: Final = "an internal error; see the log"
ENCODED: Final = "send the body as it is"
STRANGER: Final = {
    403: Content(media_type=TEXT, description="The caller has to show a client certificate.")
}
"""What endpoints answer besides that are not public."""
CROWDED: Final = {
    503: Content(media_type=TEXT, description="Too much is being sent at once: try again.")
}
"""What endpoints answer besides that take a body."""


async def everybody(_route: Route, _asked: Asked) -> str | Reply:
    """Let everybody in, whoever it is."""
    return ""


async def peers_alone(route: Route, asked: Asked) -> str | Reply:
    """Let those in who show a certificate, and everybody to what is public."""
    if route.endpoint.is_public or asked.peer:
        return ""
    return in_words("Show a client certificate.", 403)


class Application:
    """Answers requests by the table of routes; `refuse` words that there is no such path or method.

    A body counts against the budget until the answer to it has been sent.
    """

    def __init__(
        self,
        routes: Routes,
        *,
        budget: Budget,
        tell_bug: TellBug,
        guard: Guard = everybody,
        refuse: Refuse = in_words,
    ) -> None:
        self._routes = routes
        self._budget = budget
        self._guard = guard
        self._tell_bug = tell_bug
        self._refuse = refuse

    async def __call__(
        self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable
    ) -> None:
        """Answer one request."""
        assert scope["type"] == "http"
        with suppress(Gone), self._budget.shared() as share:
            await send_reply(send, await self._reply(scope, receive, share), receive=receive)

    async def _reply(self, scope: HTTPScope, receive: ASGIReceiveCallable, share: Share) -> Reply:
        found = self._routes.find(scope["path"])
        route = None if found is None else found.methods.get(scope["method"])
        if found is None or route is None:
            return _unread(scope, self._missing(found))
        asked = _asked(scope, found)
        client = await self._let_in(route, asked)
        if isinstance(client, Reply):
            return _unread(scope, client)
        asked = replace(asked, client=client)
        if route.limits is None:
            return _unread(scope, await self._answered(route, asked))
        if (encoding := asked.header("content-encoding")) not in ("", "identity"):
            return _unread(scope, route.refuse(f"{ENCODED}, not as {encoding}", 415))
        return await self._called(route, asked, read(scope, receive, route.limits, share=share))

    def _missing(self, found: Found | None) -> Reply:
        if found is None:
            return self._refuse("There is no such path.", 404)
        text = f"This path takes {found.allowed} alone."
        return replace(self._refuse(text, 405), headers=((b"allow", found.allowed.encode()),))

    async def _called(
        self, route: Route, asked: Asked, reading: Awaitable[bytes | bytearray]
    ) -> Reply:
        try:
            body = await reading
        except TooLarge as fault:
            return replace(route.refuse(str(fault), 413), closes=True)
        except TooSlow as fault:
            return replace(route.refuse(str(fault), 408), closes=True)
        except Overloaded as fault:
            return replace(route.crowded(str(fault), 503), closes=True)
        return await self._answered(route, replace(asked, body=body))

    async def _let_in(self, route: Route, asked: Asked) -> str | Reply:
        try:
            return await self._guard(route, asked)
        except Exception as bug:  # noqa: BLE001 - the top of a request
            self._tell_bug(asked.path, bug)
            return route.refuse(BUG, 500)

    async def _answered(self, route: Route, asked: Asked) -> Reply:
        try:
            return await route.answer(asked)
        except Exception as bug:  # noqa: BLE001 - the top of a request
            self._tell_bug(asked.path, bug)
            return route.refuse(BUG, 500)


def _asked(scope: HTTPScope, found: Found) -> Asked:
    query = scope["query_string"]
    return Asked(
        path=scope["path"],
        headers=scope["headers"],
        values=found.values,
        query=parse_qs(query.decode("latin-1"), keep_blank_values=True) if query else {},
        peer=scope["state"].get(PEER),
    )


def _unread(scope: HTTPScope, reply: Reply) -> Reply:
    """Return the answer to a request whose body, if it has one, is not read."""
    sent = dict(scope["headers"])
    has_body = sent.get(b"content-length", b"0") != b"0" or b"transfer-encoding" in sent
    return replace(reply, closes=True) if has_body else reply
