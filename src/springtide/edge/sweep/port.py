"""The port: what a sweep promises, wherever the jobs are done."""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar


class Named(Protocol):
    """A job that can be told to people."""

    @property
    def name(self) -> str:
        """Return what the job is called where it fails."""
        ...


JobT = TypeVar("JobT", bound=Named)
AnswerT = TypeVar("AnswerT")


class Sweep(Protocol):
    """Performs a function on many jobs."""

    def each(
        self, perform: Callable[[JobT], AnswerT], jobs: Sequence[JobT]
    ) -> Iterator[tuple[int, AnswerT]]:
        """Yield the index of each job and its answer, in the order in which they are ready.

        The function, the jobs and the answers have to travel: the function is one of a module, and
        the rest is made of plain values. Raises SweepFault.
        """
        ...
