"""In which order pods come and go.

Pods come in the order in which they are given. Where it is known when they went, they go in time
between those that came; what went at the very time at which another came made room for it. Nobody goes
after the last one has come, so that what is measured then is a cluster at work and not an empty one.
"""

from collections.abc import Sequence
from heapq import heappop, heappush

import msgspec


class Turn(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One pod, by its place among all, comes or goes."""

    pod: int
    is_departure: bool = False


def turns(came_s: Sequence[float], went_s: Sequence[float | None]) -> tuple[Turn, ...]:
    """Return who comes and goes, in order; pods come in the order in which they are given."""
    found: list[Turn] = []
    there: list[tuple[float, int]] = []
    for pod, (came, went) in enumerate(zip(came_s, went_s, strict=True)):
        while there and there[0][0] <= came:
            found.append(Turn(pod=heappop(there)[1], is_departure=True))
        found.append(Turn(pod=pod))
        if went is not None:
            heappush(there, (went, pod))
    return tuple(found)


def arrivals(count: int) -> tuple[Turn, ...]:
    """Return that so many pods come and none goes."""
    return tuple(Turn(pod=pod) for pod in range(count))
