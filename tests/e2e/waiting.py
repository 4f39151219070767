"""Waits for what another program does in its own time."""

import time
from collections.abc import Callable
from typing import Final, TypeVar

T = TypeVar("T")

LIMIT_S: Final = 60.0
POLL_S: Final = 0.1


def eventually(
    look: Callable[[], T], is_enough: Callable[[T], bool], *, limit_s: float = LIMIT_S
) -> T:
    """Look again and again until it is enough, and return what was seen; fail with it otherwise."""
    end_s = time.monotonic() + limit_s
    while not is_enough(seen := look()):
        assert time.monotonic() < end_s, f"after {limit_s:g} s there is still only {seen!r}"
        time.sleep(POLL_S)
    return seen


def steadily(look: Callable[[], T], is_so: Callable[[T], bool], *, for_s: float) -> T:
    """Look again and again for a while, fail as soon as it is not so, and return what was seen last."""
    end_s = time.monotonic() + for_s
    while True:
        seen = look()
        assert is_so(seen), f"it has become {seen!r}"
        if time.monotonic() >= end_s:
            return seen
        time.sleep(POLL_S)
