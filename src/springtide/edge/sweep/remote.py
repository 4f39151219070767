"""A sweep on a Dask cluster: `distributed` is loaded here, and only when a cluster is asked for.

At most a few jobs a worker are on their way, so that a long sweep does not pile up in the scheduler.
"""

import logging
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from springtide.edge.sweep.errors import Died, Missing, Unreachable, Unsuitable
from springtide.edge.sweep.port import AnswerT, JobT, Named

PATIENCE_S: Final = 5.0
ON_THEIR_WAY: Final = 2
"""Jobs a thread of the workers: one that is done, and one that waits."""
INSTALL: Final = (
    "A Dask cluster needs the package distributed, which is not installed: "
    "pip install 'springtide[dask]'."
)
_ADDRESS: Final = re.compile(
    r"(?P<scheme>[a-z]+)://(?:\[[0-9a-f:.]+\]|[^\s/:\[\]]+):[0-9]{1,5}", re.ASCII
)
_UNPACKING: Final = "deserialization"
SAME: Final = "Install the same springtide for the scheduler and for the workers."
GONE: Final = "the workers that took it ended without an answer; look at their logs and memory."


class Dask:
    """Has the jobs done by the workers of the scheduler at an address, as in `tcp://host:8786`."""

    def __init__(self, address: str, *, patience_s: float = PATIENCE_S) -> None:
        self._address = address
        self._patience_s = patience_s

    def each(
        self, perform: Callable[[JobT], AnswerT], jobs: Sequence[JobT]
    ) -> Iterator[tuple[int, AnswerT]]:
        """Yield the index and the answer of each job as it is ready, or raise SweepFault."""
        with self._connected() as client:
            yield from _each(client, perform, jobs)

    @contextmanager
    def _connected(self) -> Iterator[Any]:
        distributed = _library()
        _check(self._address, distributed)
        where = f"the Dask scheduler at {self._address}"
        try:
            client = distributed.Client(
                self._address, timeout=self._patience_s, set_as_default=False
            )
        except (OSError, TimeoutError) as fault:
            raise Unreachable(f"{where} does not answer. Start it, or correct it.") from fault
        with client:
            try:
                client.wait_for_workers(1, timeout=self._patience_s)
            except TimeoutError as fault:
                raise Unreachable(f"{where} has no workers. Start some.") from fault
            yield client


def _check(address: str, distributed: Any) -> None:
    """Raise Unsuitable for what no client should be made for: it would not go away again."""
    hit = _ADDRESS.fullmatch(address)
    try:
        if hit is not None:
            distributed.comm.registry.get_backend(hit["scheme"])
            return
        why = "it needs a scheme, a host and a port"
    except ValueError as fault:
        why = str(fault)
    message = f"{address!r} is no address of a Dask scheduler: {why}."
    raise Unsuitable(f"{message} Write it like tcp://host:8786.")


def _library() -> Any:
    try:
        import distributed  # noqa: PLC0415 - takes most of a second, and few have it
    except ImportError as fault:
        raise Missing(INSTALL) from fault
    # What goes wrong is told once, by us.
    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return distributed


def _each(
    client: Any, perform: Callable[[JobT], AnswerT], jobs: Sequence[JobT]
) -> Iterator[tuple[int, AnswerT]]:
    waiting = iter(range(len(jobs)))
    at_work: dict[Any, int] = {}

    def go_on() -> list[Any]:
        index = next(waiting, None)
        if index is None:
            return []
        # Equal jobs are done as often as they are asked for.
        future = client.submit(perform, jobs[index], pure=False)
        at_work[future] = index
        return [future]

    width = ON_THEIR_WAY * sum(client.nthreads().values())
    try:
        first = [each for _ in range(width) for each in go_on()]
        ready = _library().as_completed(first, loop=client.loop)
        for future in ready:
            index = at_work.pop(future)
            answer = _answer(future, jobs[index])
            ready.update(go_on())
            yield index, answer
    finally:
        client.cancel(list(at_work))


def _answer(future: Any, job: Named) -> Any:
    distributed = _library()
    try:
        return future.result()
    except distributed.KilledWorker as fault:
        raise Died(job.name, GONE) from fault
    except distributed.CancelledError as fault:
        raise Unreachable(f"{job.name}: the Dask scheduler went away. Start it again.") from fault
    except (ImportError, AttributeError, RuntimeError) as fault:
        if isinstance(fault, RuntimeError) and _UNPACKING not in str(fault):
            raise
        why = f"the Dask cluster cannot do it: {str(fault).partition('.')[0]}"
        raise Unsuitable(f"{job.name}: {why}. {SAME}") from fault
