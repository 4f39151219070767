"""This machine's clock, and a seeded source of chance: what decisions may not fetch themselves."""

import random
import time


class MachineClock:
    """The clock of the operating system."""

    def monotonic_s(self) -> float:
        """Return seconds that never run backwards."""
        return time.monotonic()


class SeededRng:
    """Draws the same choices for the same seed."""

    def __init__(self, seed: int) -> None:
        # Breaks ties between equal node groups; nothing secret depends on it.
        self._source = random.Random(seed)  # noqa: S311

    def choice_index(self, count: int) -> int:
        """Return one of the indices 0 to count - 1."""
        return self._source.randrange(count)
