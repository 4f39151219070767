"""What benchmarks hand to the planner: a clock, a source of chance, and inputs made in memory."""

import random
import time

from bench import clusters
from springtide.wire.documents import Input, decode
from springtide.wire.source import Source


class MonotonicClock:
    """The machine's clock."""

    def monotonic_s(self) -> float:
        """Return seconds since some fixed moment."""
        return time.monotonic()


class SeededRng:
    """A repeatable source of chance."""

    def __init__(self, seed: int = 0) -> None:
        self._random = random.Random(seed)

    def choice_index(self, count: int) -> int:
        """Return a number below `count`."""
        return self._random.randrange(count)


def sources(dump: bytes, *, groups: int, max_size: int = 1000) -> list[Source]:
    """Return a dump with the NodeGroups that find its nodes."""
    document = clusters.node_groups(groups, max_size=max_size)
    return [Source(name="dump.json", data=dump), Source(name="groups.json", data=document)]


def read(dump: bytes, *, groups: int, max_size: int = 1000) -> Input:
    """Return the decoded dump with its NodeGroups."""
    return decode(sources(dump, groups=groups, max_size=max_size))
