"""One watch: what a server tells line by line, each line one object that is still text.

A connection is taken for dead when nothing comes for as long as bookmarks would have come twice.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from typing import Final

import msgspec

from springtide.edge.cluster.errors import Broken, ClusterFault, Malformed, Silent
from springtide.edge.kube.refusals import Status, list_fault, told_fault
from springtide.edge.kube.transport import Answer, Query, Stream, Transport

LINE_BYTES_MAX: Final = 32 << 20
REFUSAL_BYTES_MAX: Final = 1 << 20
_OK: Final = 200
_ERROR: Final = "ERROR"


class Told(msgspec.Struct, frozen=True):
    """One line: what happened, and to what."""

    type: str
    object: msgspec.Raw


_TOLD: Final = msgspec.json.Decoder(Told)
_STATUS: Final = msgspec.json.Decoder(Status)


async def watched(
    transport: Transport, path: str, query: Query, *, silence_s_max: float
) -> AsyncGenerator[list[Told], None]:
    """Yield what is told, as it comes in; first an empty list, when the server has begun.

    Ends when the server ends it, and raises ClusterFault: Gone if it must be listed again.
    """
    async with transport.stream(path, query) as stream:
        if stream.status != _OK:
            raise await _refusal(stream, path, silence_s_max)
        yield []
        lines = Lines(path)
        while chunk := await _chunk(stream, path, silence_s_max):
            told = [_told(line, path) for line in lines.feed(chunk)]
            if told:
                yield told
        if lines.is_inside:
            raise Broken(f"The watch of {path} was cut inside an object. Nothing is lost by it.")


class Lines:
    """Cuts bytes into lines."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._parts: list[bytes] = []
        self._size = 0

    @property
    def is_inside(self) -> bool:
        """Return whether a line has begun that has not ended."""
        return bool(self._parts)

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Yield the lines that these bytes end, empty ones not."""
        *ended, rest = chunk.split(b"\n")
        for line in ended:
            whole = b"".join((*self._parts, line)) if self._parts else line
            self._parts, self._size = [], 0
            if whole:
                yield whole
        if rest:
            self._parts.append(rest)
            self._size += len(rest)
            if self._size > LINE_BYTES_MAX:
                raise Malformed(
                    f"The watch of {self._path} sent more than {LINE_BYTES_MAX >> 20} MiB for one "
                    "object. Check that the kubeconfig names an API server."
                )


async def _chunk(stream: Stream, path: str, silence_s_max: float) -> bytes:
    try:
        async with asyncio.timeout(silence_s_max):
            return await stream.chunk()
    except TimeoutError as fault:
        raise Silent(
            f"The watch of {path} was silent for {silence_s_max:g} s, so it is taken for dead. "
            "Check the network on the way to the API server."
        ) from fault


async def _refusal(stream: Stream, path: str, silence_s_max: float) -> ClusterFault:
    body = b""
    while len(body) < REFUSAL_BYTES_MAX and (part := await _chunk(stream, path, silence_s_max)):
        body += part
    answer = Answer(status=stream.status, body=body, retry_after=stream.retry_after)
    return list_fault(answer, path)


def _told(line: bytes, path: str) -> Told:
    try:
        told = _TOLD.decode(line)
        if told.type == _ERROR:
            raise told_fault(_STATUS.decode(told.object), path)
    except msgspec.DecodeError as fault:
        raise Malformed(
            f"What came from the watch of {path} is no event ({fault}). "
            "Check that the kubeconfig names an API server."
        ) from fault
    return told
