"""Answers, and how they are sent."""

import asyncio
from contextlib import suppress
from typing import Final

import msgspec
from uvicorn._types import ASGIReceiveCallable, ASGISendCallable

from springtide.wire.openapi import JSON, TEXT

LINGER_S_MAX: Final = 1.0
"""So long a caller may go on sending what nobody reads, after it is answered: cut off at once, it would
see a broken connection instead of the answer."""


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """One answer; `closes` ends the connection after it, as where a body was not read to its end."""

    body: bytes = b""
    status: int = 200
    content_type: str = JSON
    headers: tuple[tuple[bytes, bytes], ...] = ()
    closes: bool = False


def in_words(text: str, status: int) -> Reply:
    """Return an answer for people."""
    return Reply(body=f"{text}\n".encode(), status=status, content_type=TEXT)


async def send_reply(send: ASGISendCallable, reply: Reply, *, receive: ASGIReceiveCallable) -> None:
    """Send an answer."""
    headers = [
        (b"content-type", reply.content_type.encode()),
        (b"content-length", str(len(reply.body)).encode()),
        *reply.headers,
    ]
    if reply.closes:
        headers.append((b"connection", b"close"))
    await send(
        {
            "type": "http.response.start",
            "status": reply.status,
            "headers": headers,
            "trailers": False,
        }
    )
    await send({"type": "http.response.body", "body": reply.body, "more_body": reply.closes})
    if reply.closes:
        await _linger(receive)
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _linger(receive: ASGIReceiveCallable) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(LINGER_S_MAX):
            while (message := await receive())["type"] == "http.request":
                if not message["more_body"]:
                    return
