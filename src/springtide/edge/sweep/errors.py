"""Faults of sweeps, sorted by what the caller can do about them.

SweepFault
├── Died         whoever did a job ended without an answer: use fewer workers, or look at the machine
├── Missing      a package that this kind of sweep needs is not installed: install it
├── Unreachable  the scheduler of a cluster does not answer, or has no workers: start them
└── Unsuitable   its address makes no sense, or its workers lack what the job needs: correct it
"""

from springtide.base.errors import SpringtideError


class SweepFault(SpringtideError):
    """The jobs could not all be done."""


class Died(SweepFault):
    """A worker ended while it did a job; `job` is its name."""

    def __init__(self, job: str, why: str) -> None:
        super().__init__(f"{job}: {why}")
        self.job = job


class Missing(SweepFault):
    """A package is not installed."""


class Unreachable(SweepFault):
    """Nobody is there to do the jobs."""


class Unsuitable(SweepFault):
    """Whoever is there cannot do the jobs."""
