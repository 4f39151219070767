"""One request with its retries, and how long to wait before asking again."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

import msgspec

from springtide.base.clock import Rng
from springtide.edge.cluster.errors import Broken, Failing, Throttled
from springtide.edge.kube.refusals import list_fault
from springtide.edge.kube.transport import Answer, Get, Query

TRIES_MAX: Final = 5
WAIT_FIRST_S: Final = 0.5
WAIT_MAX_S: Final = 30.0
_JITTER_STEPS: Final = 1 << 16
_DOUBLINGS_MAX: Final = 10
_OK: Final = 200

Pause = Callable[[float], Awaitable[None]]


class Patience(msgspec.Struct, frozen=True, kw_only=True):
    """How to wait: by chance, so that many clients do not come back at once."""

    rng: Rng
    pause: Pause = asyncio.sleep

    async def wait(self, tries: int, at_least_s: float | None) -> None:
        """Wait after so many failed tries; longer each time, and as long as the server wants."""
        longest = min(WAIT_MAX_S, WAIT_FIRST_S * 2 ** min(tries, _DOUBLINGS_MAX))
        by_chance = longest * (1 + self.rng.choice_index(_JITTER_STEPS) / _JITTER_STEPS) / 2
        await self.pause(max(by_chance, at_least_s or 0.0))


async def ask(get: Get, path: str, query: Query, *, patience: Patience) -> bytes:
    """Return the body of a good answer, or raise ClusterFault; passing faults are tried again."""
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
    raise list_fault(answer, path)
