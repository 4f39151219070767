"""A table of routes finds what is behind a path, and an application answers by it."""

import asyncio
from typing import Any, Literal

import pytest

from springtide.edge.serving import (
    Application,
    Asked,
    Budget,
    Gone,
    Guard,
    Limits,
    Reply,
    Route,
    Routes,
    everybody,
    peers_alone,
    send_reply,
)
from springtide.edge.serving.protocol import PEER
from springtide.edge.serving.replies import PIECE_BYTES
from springtide.wire.openapi import Content, Endpoint
from tests.virtual import run as run_virtually

Method = Literal["GET", "POST", "DELETE"]


async def told(asked: Asked) -> Reply:
    """Say what was asked."""
    text = (
        f"{asked.path} {dict(asked.values)} {asked.query} {asked.header('x')} {bytes(asked.body)!r}"
    )
    return Reply(body=text.encode())


async def broken(_asked: Asked) -> Reply:
    """Do not answer."""
    raise ValueError("a bug")


def route(method: Method, path: str, *, is_public: bool = False, answer: Any = told) -> Route:
    """Return a route; what is posted may have 4 bytes."""
    return Route(
        endpoint=Endpoint(
            method=method,
            path=path,
            summary="",
            body=Content() if method == "POST" else None,
            replies={200: Content()},
            is_public=is_public,
        ),
        answer=answer,
        limits=Limits(size_max=4, time_s_max=1.0) if method == "POST" else None,
    )


ROUTES = Routes(
    [
        route("GET", "/boats", is_public=True),
        route("POST", "/boats"),
        route("GET", "/boats/{name}"),
        route("DELETE", "/boats/{name}"),
        route("POST", "/boats/{name}:sail"),
        route("POST", "/broken", answer=broken),
    ]
)


class Call:
    """A call of an application without any socket."""

    def __init__(self, method: str, path: str, *, body: bytes = b"", query: bytes = b"") -> None:
        self.scope: Any = {
            "type": "http",
            "method": method,
            "path": path,
            "query_string": query,
            "headers": [(b"x", b"header"), (b"content-length", str(len(body)).encode())],
            "state": {},
        }
        self.body = body
        self.bugs: list[tuple[str, Exception]] = []
        self.headers: dict[bytes, bytes] = {}
        self.status = 0
        self.answer = b""

    def made(self, *, guard: Guard = everybody) -> "Call":
        """Make it."""
        application = Application(
            ROUTES,
            budget=Budget(100),
            tell_bug=lambda path, bug: self.bugs.append((path, bug)),
            guard=guard,
        )
        asyncio.run(application(self.scope, self._receive, self._send))
        return self

    async def _receive(self) -> Any:
        return {"type": "http.request", "body": self.body, "more_body": False}

    async def _send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.status, self.headers = message["status"], dict(message["headers"])
        else:
            self.answer += message["body"]


@pytest.mark.parametrize(
    ("method", "path", "values"),
    [
        ("GET", "/boats", {}),
        ("HEAD", "/boats", {}),
        ("POST", "/boats", {}),
        ("DELETE", "/boats/ida", {"name": "ida"}),
        ("POST", "/boats/ida:sail", {"name": "ida"}),
    ],
)
def test_a_path_is_found_with_what_stands_in_it(
    method: str, path: str, values: dict[str, str]
) -> None:
    found = ROUTES.find(path)

    assert found is not None
    assert method in found.methods
    assert found.values == values


@pytest.mark.parametrize("path", ["/", "/boats/", "/boats/a/b", "/boats/a:row", "/Boats", "boats"])
def test_a_path_that_is_not_there_is_not_found(path: str) -> None:
    assert ROUTES.find(path) is None


def test_the_same_endpoint_twice_is_a_bug() -> None:
    with pytest.raises(AssertionError, match="twice"):
        Routes([route("GET", "/boats"), route("GET", "/boats")])


def test_what_answers_gets_the_whole_question() -> None:
    call = Call("POST", "/boats/ida:sail", body=b"fast", query=b"a=1&b").made()

    assert call.status == 200
    assert call.answer == (
        b"/boats/ida:sail {'name': 'ida'} {'a': ['1'], 'b': ['']} header b'fast'"
    )


def test_methods_that_a_path_does_not_take_are_told_those_that_it_takes() -> None:
    call = Call("PUT", "/boats").made()

    assert call.status == 405
    assert call.headers[b"allow"] == b"GET, HEAD, POST"


def test_strangers_see_only_what_is_public() -> None:
    public, other = Call("GET", "/boats"), Call("GET", "/boats/ida")
    known = Call("GET", "/boats/ida")
    known.scope["state"][PEER] = {"subject": "scheduler"}

    assert public.made(guard=peers_alone).status == 200
    assert other.made(guard=peers_alone).status == 403
    assert known.made(guard=peers_alone).status == 200


def test_a_body_that_is_too_large_is_refused_in_words_where_nothing_else_is_said() -> None:
    call = Call("POST", "/boats", body=b"large").made()

    assert call.status == 413
    assert call.headers[b"connection"] == b"close"


def test_a_bug_is_told_and_answered() -> None:
    call = Call("POST", "/broken", body=b"").made()

    assert call.status == 500
    assert [path for path, _ in call.bugs] == ["/broken"]


def test_whoever_does_not_take_its_answer_is_given_up() -> None:
    sent = []

    async def send(message: Any) -> None:
        sent.append(message["type"])
        if len(sent) > 2:
            await asyncio.Event().wait()

    async def receive() -> Any:
        raise AssertionError("nothing is asked for")

    async def work() -> None:
        with pytest.raises(Gone):
            await send_reply(send, Reply(body=bytes(2 * PIECE_BYTES)), receive=receive)

    run_virtually(work())

    assert sent == ["http.response.start", "http.response.body", "http.response.body"]
