"""Jobs for sweeps and what is performed on them, which a worker imports by name; and a Dask cluster."""

import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

STARTING_S: Final = 30
ROOT: Final = Path(__file__).resolve().parent.parent
PATH: Final = os.pathsep.join([str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
"""Where a process of its own finds this tree."""


class Sum(msgspec.Struct, frozen=True, kw_only=True):
    """Two numbers to add, or a thing to do instead."""

    one: int = 0
    other: int = 0
    mark: str = ""

    @property
    def name(self) -> str:
        """The job, as a fault names it."""
        return f"{self.one} + {self.other}"


def added(job: Sum) -> int:
    """The sum."""
    return job.one + job.other


def place(job: Sum) -> int:
    """The number of the process."""
    return os.getpid()


def fatal(job: Sum) -> int:
    """The sum, or the end of the process that has the job without numbers."""
    if not job.one:
        os._exit(9)
    return added(job)


def refused(job: Sum) -> int:
    """A fault of the job itself."""
    raise ValueError(job.name)


def endless(job: Sum) -> int:
    """Nothing, ever; the mark is a pipe that ends when this process does."""
    with Path(job.mark).open("w", encoding="utf-8") as pipe:
        pipe.write("begun\n")
        pipe.flush()
        while True:
            pass


@contextlib.contextmanager
def dask_cluster(folder: Path) -> Iterator[str]:
    """The address of a Dask scheduler with one worker, each a process that keeps to the folder."""
    # Workers of other sweeps import this module too, and need not wait for it.
    from distributed import Client  # noqa: PLC0415

    port = free_port()
    address = f"tcp://127.0.0.1:{port}"
    run = [
        "distributed.cli.dask_scheduler",
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
        "--no-show",
    ]
    work = ["distributed.cli.dask_worker", address, "--nworkers", "1", "--nthreads", "1"]
    env = {**os.environ, "PYTHONPATH": PATH}
    with (folder / "log").open("w") as log, contextlib.ExitStack() as stack:
        for command in (run, [*work, "--no-nanny"]):
            process = subprocess.Popen(
                [sys.executable, "-m", *command, "--no-dashboard"],
                cwd=folder,
                env=env,
                stdout=log,
                stderr=log,
            )
            stack.callback(process.wait)
            stack.callback(process.terminate)
        with Client(address, timeout=STARTING_S, set_as_default=False) as client:
            client.wait_for_workers(1, timeout=STARTING_S)
        yield address


def free_port() -> int:
    """A port that nobody listened on just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
