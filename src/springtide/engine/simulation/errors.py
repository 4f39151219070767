"""Faults of simulation calls, sorted by what the caller can do about them. Nothing was changed.

SimulationFault
├── NoSuchSession       open a session from the snapshot
├── SessionEnded        the same: its lease has run out, or it was closed
├── RevisionMoved       look at the state again, then decide again
├── OperationReused     give the other call an id of its own
├── Contradiction       the call says what cannot be: correct it
├── TooLarge            more than one call or one session may hold: send less
└── TooMany             as many sessions as there may be: end one, or wait
"""

from springtide.base.errors import SpringtideError


class SimulationFault(SpringtideError):
    """A call about a simulation cannot be answered."""


class NoSuchSession(SimulationFault):
    """The client has opened no such session, or longer ago than is remembered."""


class SessionEnded(SimulationFault):
    """There was such a session, but it is gone."""


class RevisionMoved(SimulationFault):
    """The session is at another revision than the call is for."""

    def __init__(self, *, wanted: int, revision: int) -> None:
        super().__init__(
            f"the session is at revision {revision}, and the call is for {wanted}: look at what has "
            "changed, and decide again"
        )
        self.revision = revision


class OperationReused(SimulationFault):
    """The id of an operation was used for another call before."""

    def __init__(self, operation: str) -> None:
        super().__init__(
            f"operation {operation} was another call before; give every operation an id of its own"
        )


class Contradiction(SimulationFault):
    """The call names what is not there, or adds what is there already."""


class TooLarge(SimulationFault):
    """A bound of one call or one session is reached."""


class TooMany(SimulationFault):
    """There are as many sessions as there may be."""
