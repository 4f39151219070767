"""A sweep on processes of this machine.

Every worker is a pool of one process and has one job at a time, so that a process that dies tells by
itself which job it had. Workers are started afresh (spawn), never forked. They do not hear Ctrl-C,
which is this process's business; they end when their leash is let go, be it by the end of the sweep
or by the end of this process, however that came.
"""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Final, NamedTuple

from springtide.edge.sweep.errors import Died
from springtide.edge.sweep.port import AnswerT, JobT

GONE: Final = (
    "the process that did it ended without an answer; it may have run out of memory. Use fewer "
    "--workers, or make room."
)


class Processes:
    """Does up to so many jobs at a time, each in a process of its own."""

    def __init__(self, workers: int) -> None:
        self._workers = workers

    def each(
        self, perform: Callable[[JobT], AnswerT], jobs: Sequence[JobT]
    ) -> Iterator[tuple[int, AnswerT]]:
        """Yield the index and the answer of each job as it is ready, or raise Died."""
        waiting = iter(range(len(jobs)))
        at_work: dict[Future[AnswerT], _Post] = {}

        def go_on(worker: ProcessPoolExecutor) -> None:
            number = next(waiting, None)
            if number is not None:
                at_work[_submitted(worker, perform, jobs[number])] = _Post(number, worker)

        with _crew(min(self._workers, len(jobs))) as crew:
            for worker in crew:
                go_on(worker)
            while at_work:
                for future in wait(at_work, return_when=FIRST_COMPLETED).done:
                    number, worker = at_work.pop(future)
                    answer = _answer(future, jobs[number])
                    go_on(worker)
                    yield number, answer


class _Post(NamedTuple):
    """Which of the jobs is done, and by whom."""

    number: int
    worker: ProcessPoolExecutor


def _answer(future: Future[AnswerT], job: JobT) -> AnswerT:
    try:
        return future.result()
    except BrokenProcessPool as fault:
        raise Died(job.name, GONE) from fault


def _submitted(
    worker: ProcessPoolExecutor, perform: Callable[[JobT], AnswerT], job: JobT
) -> Future[AnswerT]:
    """Hand in a job; the process that this may start inherits that interrupts are held back."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return worker.submit(perform, job)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _crew(size: int) -> Iterator[list[ProcessPoolExecutor]]:
    """Give the workers, and dismiss them whatever they are at."""
    context = multiprocessing.get_context("spawn")
    leash, held = context.Pipe(duplex=False)
    crew = [
        ProcessPoolExecutor(1, mp_context=context, initializer=_leashed, initargs=(leash,))
        for _ in range(size)
    ]
    try:
        yield crew
    finally:
        held.close()
        for worker in crew:
            worker.shutdown(cancel_futures=True)
        leash.close()


def _leashed(leash: Connection) -> None:
    """Start to watch the leash, in the process of a worker."""
    threading.Thread(target=_watch, args=(leash,), daemon=True).start()


def _watch(leash: Connection) -> None:
    """End this process at once when nobody holds the other end of the leash."""
    leash.poll(None)
    os._exit(0)
