"""Jobs for sweeps, and what is performed on them: a worker imports both by name."""

import os
from pathlib import Path

import msgspec


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
