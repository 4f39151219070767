"""What the process tells of itself: one event with its facts, by names that stay."""

from typing import Protocol


class Log(Protocol):
    """Takes one event; who writes it down adds the time."""

    def __call__(self, event: str, *, is_fault: bool = False, **facts: object) -> None:
        """Tell it. Facts are texts, numbers, and maps and lists of them; never secrets."""
        ...
