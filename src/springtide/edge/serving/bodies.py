"""Bodies of requests, within bounds: of one, of all at once, and of the time they may take.

Faults
├── TooLarge    the caller sends more than it may
├── TooSlow     it takes too long over it
├── Overloaded  all callers together send more than there is room for
└── Gone        it went away in the middle
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import msgspec
from uvicorn._types import ASGIReceiveCallable, HTTPScope

from springtide.base.errors import SpringtideError

MIB: Final = 1 << 20
_LENGTH: Final = b"content-length"


class BodyFault(SpringtideError):
    """A body was not read."""


class TooLarge(BodyFault):
    """It is larger than it may be."""


class TooSlow(BodyFault):
    """It did not come in time."""


class Overloaded(BodyFault):
    """There is no room for it now."""


class Gone(BodyFault):
    """Whoever sent it went away."""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """How large a body may be, and how long it may take."""

    size_max: int
    time_s_max: float


class Budget:
    """Room for the bodies of all requests that are being answered."""

    def __init__(self, size_max: int) -> None:
        self._left = size_max

    @contextmanager
    def shared(self) -> Iterator["Share"]:
        """Give one request a share, and take it back when it is answered."""
        share = Share(self)
        try:
            yield share
        finally:
            self._left += share.size

    def take(self, size: int) -> None:
        """Take room, or raise Overloaded."""
        if size > self._left:
            raise Overloaded("Too much is being sent at once. Try again.")
        self._left -= size


class Share:
    """What one request has taken of a budget."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self.size = 0

    def grow(self, size: int) -> None:
        """Take more, or raise Overloaded."""
        self._budget.take(size)
        self.size += size


async def read(
    scope: HTTPScope, receive: ASGIReceiveCallable, limits: Limits, *, share: Share
) -> bytearray:
    """Return the whole body, or raise a BodyFault."""
    if _announced(scope) > limits.size_max:
        raise _too_large(limits)
    try:
        async with asyncio.timeout(limits.time_s_max):
            return await _collected(receive, limits=limits, share=share)
    except TimeoutError as fault:
        raise TooSlow(
            f"unexpected EOF: the body did not come within {limits.time_s_max:g} s. Send it faster."
        ) from fault


async def _collected(receive: ASGIReceiveCallable, *, limits: Limits, share: Share) -> bytearray:
    # It grows in place: to join the parts of a large one at its end would take longer than others wait.
    body = bytearray()
    while True:
        message: Any = await receive()
        if message["type"] != "http.request":
            raise Gone("The caller went away before its body had come.")
        part = message.get("body", b"")
        share.grow(len(part))
        if share.size > limits.size_max:
            raise _too_large(limits)
        body += part
        if not message.get("more_body"):
            return body


def _announced(scope: HTTPScope) -> int:
    for name, value in scope["headers"]:
        if name == _LENGTH and value.isdigit():
            return int(value)
    return 0


def _too_large(limits: Limits) -> TooLarge:
    mib, rest = divmod(limits.size_max, MIB)
    size = f"{limits.size_max} bytes" if rest else f"{mib} MiB"
    return TooLarge(f"the body is larger than {size}. Send less.")
