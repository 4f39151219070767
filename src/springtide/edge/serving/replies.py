"""Answers, and how they are sent."""

import asyncio
from contextlib import suppress
from typing import Final

import msgspec
from uvicorn._types import ASGIReceiveCallable, ASGISendCallable

from springtide.edge.serving.bodies import Gone
from springtide.wire.openapi import JSON, TEXT

LINGER_S_MAX: Final = 1.0
"""So long a caller may go on sending what nobody reads, after it is answered: cut off at once, it would
see a broken connection instead of the answer."""

PIECE_BYTES: Final = 256 << 10
"""An answer is sent in pieces of this size."""
PIECE_S_MAX: Final = 60.0
"""Whoever takes longer for a piece is cut off: its answer takes up room that others wait for."""


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
    """Send an answer, or raise Gone if nobody takes it."""
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
    # In pieces, so that of a large answer no more is on its way than a slow caller has taken.
    for start in range(0, max(1, len(reply.body)), PIECE_BYTES):
        end = start + PIECE_BYTES
        goes_on = reply.closes or end < len(reply.body)
        await _send_piece(send, reply.body[start:end], goes_on=goes_on)
    if reply.closes:
        await _linger(receive)
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _send_piece(send: ASGISendCallable, piece: bytes, *, goes_on: bool) -> None:
    try:
        async with asyncio.timeout(PIECE_S_MAX):
            await send({"type": "http.response.body", "body": piece, "more_body": goes_on})
    except TimeoutError as fault:
        raise Gone("The caller does not take its answer.") from fault


async def _linger(receive: ASGIReceiveCallable) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(LINGER_S_MAX):
            while (message := await receive())["type"] == "http.request":
                if not message["more_body"]:
                    return
