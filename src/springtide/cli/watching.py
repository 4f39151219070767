"""Who looks on while a command works: the terminal, and whoever asked for events."""

from collections.abc import Iterator
from contextlib import contextmanager

from springtide.apps.planner import Onlooker
from springtide.cli.progress import on_terminal
from springtide.cli.verbosity import teller


@contextmanager
def watched(verbosity: int = 0) -> Iterator[Onlooker]:
    """Give the onlooker of this process; lines of events say themselves how far the work is."""
    with on_terminal(is_wanted=not verbosity) as progress:
        yield Onlooker(progress, teller(verbosity))
