"""How often a call is made, and how long is waited in between: the same for programs that wait and others.

Every call may be made again: most change nothing, and those that do carry an id by which the service knows
them. A session that is ended twice is as much ended. The service is told how much time is left.
"""

from collections.abc import Generator
from typing import Final, TypeAlias, TypeVar

import msgspec

from springtide.client.calls import Answer, Call, read
from springtide.client.errors import Overloaded, SessionGone, Unreachable

T = TypeVar("T")

WAIT_FIRST_S: Final = 0.1


class Send(msgspec.Struct, frozen=True):
    """Make the call, for so long at most."""

    timeout_s: float


class Wait(msgspec.Struct, frozen=True):
    """Wait for so long."""

    seconds: float


Step: TypeAlias = Send | Wait
Outcome: TypeAlias = Answer | Unreachable
"""What came of a call."""


def trying(
    call: Call[T], *, timeout_s: float, tries_max: int
) -> Generator[Step, tuple[Outcome, float], T]:
    """Say what is to be done next, until there is an answer; each step is told how long it took."""
    left_s, wait_s = timeout_s, WAIT_FIRST_S
    for tries in range(1, tries_max + 1):
        outcome, took_s = yield Send(left_s)
        left_s -= took_s
        try:
            if isinstance(outcome, Unreachable):
                raise outcome
            return read(call, outcome)
        except SessionGone:
            if call.answer is None and tries > 1:
                return None  # type: ignore[return-value]  # such a call is one of None
            raise
        except Overloaded as fault:
            pause_s = max(wait_s, fault.retry_after_s or 0.0)
            if tries == tries_max or pause_s >= left_s:
                raise
        except Unreachable:
            pause_s = wait_s
            if tries == tries_max or pause_s >= left_s:
                raise
        yield Wait(pause_s)
        left_s -= pause_s
        wait_s *= 2
    raise AssertionError("the last try returns or raises")
