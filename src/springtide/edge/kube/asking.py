"""One request with its retries: what a status means, and how long to wait before asking again."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

import msgspec

from springtide.base.clock import Rng
from springtide.edge.kube.connection import Answer, Get, Query
from springtide.edge.kube.errors import (
    Broken,
    Denied,
    Failing,
    Gone,
    KubeError,
    Malformed,
    NotServed,
    Throttled,
    Unknown,
)

TRIES_MAX: Final = 5
WAIT_FIRST_S: Final = 0.5
WAIT_MAX_S: Final = 30.0
_JITTER_STEPS: Final = 1 << 16
_OK: Final = 200
_FAULTS: Final = range(500, 600)

Pause = Callable[[float], Awaitable[None]]


class Status(msgspec.Struct, frozen=True):
    """How an API server puts a refusal into words."""

    message: str = ""


_STATUS: Final = msgspec.json.Decoder(Status)


class Patience(msgspec.Struct, frozen=True, kw_only=True):
    """How to wait: by chance, so that many clients do not come back at once."""

    rng: Rng
    pause: Pause = asyncio.sleep

    async def wait(self, tries: int, at_least_s: float | None) -> None:
        """Wait after so many failed tries; longer each time, and as long as the server wants."""
        longest = min(WAIT_MAX_S, WAIT_FIRST_S * 2**tries)
        by_chance = longest * (1 + self.rng.choice_index(_JITTER_STEPS) / _JITTER_STEPS) / 2
        await self.pause(max(by_chance, at_least_s or 0.0))


async def ask(get: Get, path: str, query: Query, *, patience: Patience) -> bytes:
    """Return the body of a good answer, or raise KubeError; passing faults are tried again."""
    for tries in range(TRIES_MAX):
        try:
            return _body(await get(path, query), path)
        except (Throttled, Failing, Broken) as fault:
            asked_s = None if isinstance(fault, Broken) else fault.retry_after_s
            if tries + 1 == TRIES_MAX or (asked_s or 0.0) > WAIT_MAX_S:
                raise
            await patience.wait(tries, asked_s)
    raise AssertionError("the last try returns or raises")


def _body(answer: Answer, path: str) -> bytes:
    if answer.status == _OK:
        return answer.body
    raise _fault(answer, path)


def _fault(answer: Answer, path: str) -> KubeError:  # noqa: PLR0911  one return a status
    words = _words(answer)
    match answer.status:
        case 401:
            return Unknown(
                f"The API server does not know who is asking{words}. "
                "Log in again, or use another --context."
            )
        case 403:
            return Denied(f"The API server refuses {path}{words}.")
        case 404:
            return NotServed(f"The API server has no {path}.")
        case 410:
            return Gone(f"The list of {path} can no longer be continued{words}.")
        case 429:
            return Throttled(
                f"The API server is busy and asks to come back later{words}. Try again later.",
                _seconds(answer.retry_after),
            )
        case status if status in _FAULTS:
            return Failing(
                f"The API server answered {path} with code {status}{words}. "
                "Look at its health, then try again.",
                _seconds(answer.retry_after),
            )
        case status:
            return Malformed(
                f"Code {status} is no answer to {path}{words}. "
                "Check that the kubeconfig names an API server."
            )


def _words(answer: Answer) -> str:
    """Return the server's own words, after a colon."""
    try:
        message = _STATUS.decode(answer.body).message
    except msgspec.DecodeError:
        return ""
    return f": {message.rstrip('. ')}" if message else ""


def _seconds(retry_after: str) -> float | None:
    """Return the seconds of the header; its other form, a date, no API server sends."""
    return float(retry_after) if retry_after.isdecimal() else None
