"""What tests hand in for the outside world: a clock that stands still, and no chance at all."""


class FixedClock:
    """A clock that shows one moment until it is moved."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def monotonic_s(self) -> float:
        """Return the moment."""
        return self.now_s


class FirstRng:
    """A source of chance that always draws the first."""

    def choice_index(self, count: int) -> int:
        """Return 0; there must be something to draw."""
        assert count > 0
        return 0
