"""Who looks on while a command works: the terminal, and whoever asked for events."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from springtide.apps.planner import Onlooker
from springtide.base.progress import Progress
from springtide.base.telling import Level, Tell
from springtide.cli.progress import READING, on_terminal, reading
from springtide.cli.verbosity import teller
from springtide.edge.files import read
from springtide.wire.documents import Input
from springtide.wire.source import Source


@contextmanager
def watched(verbosity: int) -> Iterator[Onlooker]:
    """Give the onlooker of this process; lines of events say themselves how far the work is."""
    with on_terminal(is_wanted=not verbosity) as progress:
        yield Onlooker(progress, teller(verbosity))


def read_sources(paths: Sequence[str], progress: Progress) -> list[Source]:
    """Return what the files and standard input hold, and say so."""
    progress.begin(READING)
    sources = read(paths, sys.stdin.buffer)
    progress.begin(reading(sources))
    return sources


def tell_reading(found: Input, took_s: float, tell: Tell) -> None:
    """Tell what reading and decoding came to."""
    objects = sum(found.counts.values())
    problems = len(found.problems)
    seconds = round(took_s, 3)
    tell(Level.DEBUG, "input_read", objects=objects, problems=problems, seconds=seconds)
