"""How many of the new nodes each of several similar groups gets.

Cluster Autoscaler's rule: node by node to the smallest group that still has room, going through
groups of equal size in order before any of them gets a second one.
"""

from collections.abc import Sequence

import msgspec


class Room(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One group: how many nodes it has and how many it may have."""

    name: str
    size: int
    max_size: int


def balance(rooms: Sequence[Room], count: int) -> list[tuple[str, int]]:
    """Return which groups grow and by how many nodes, as far as there is room; smallest first."""
    order = sorted((room for room in rooms if room.size != room.max_size), key=lambda r: r.size)
    left = min(count, sum(max(0, room.max_size - room.size) for room in order))
    sizes = [room.size for room in order]
    still_open = list(range(len(order)))
    at = 0
    while left > 0:
        group = still_open[at]
        if sizes[group] < order[group].max_size:
            sizes[group] += 1
            left -= 1
        else:
            # The first of those that still grow takes the place of the full one.
            still_open[at] = still_open[0]
            del still_open[0]
            at -= 1
        at = _next(at, [sizes[index] for index in still_open])
    return [
        (room.name, size - room.size)
        for room, size in zip(order, sizes, strict=True)
        if size != room.size
    ]


def _next(at: int, sizes: Sequence[int]) -> int:
    """Return whose turn it is: the next one if it is smaller by now, else the first."""
    if at + 1 < len(sizes) and (at < 0 or sizes[at] > sizes[at + 1]):
        return at + 1
    return 0
