"""Faults of executors, sorted by what is known about the effect.

ExecutorFault
├── Unobservable     it cannot be seen which members there are: order nothing
├── NotDone          the order had no effect: it may be given again
└── OutcomeUnknown   the order may have had its effect, or may yet have it: look before anything else
"""

from springtide.base.errors import SpringtideError


class ExecutorFault(SpringtideError):
    """An executor did not do what was asked of it."""


class Unobservable(ExecutorFault):
    """Nobody can say which members there are."""


class NotDone(ExecutorFault):
    """Nothing came of the order."""


class OutcomeUnknown(ExecutorFault):
    """What came of the order is unknown."""
