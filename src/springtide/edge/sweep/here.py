"""A sweep in this process, one job after the other."""

from collections.abc import Callable, Iterator, Sequence

from springtide.edge.sweep.port import AnswerT, JobT


class Here:
    """Does the jobs itself."""

    def each(
        self, perform: Callable[[JobT], AnswerT], jobs: Sequence[JobT]
    ) -> Iterator[tuple[int, AnswerT]]:
        """Yield the index and the answer of each job."""
        for index, job in enumerate(jobs):
            yield index, perform(job)
