"""What is no answer, sorted by what the caller can do about it.

SimulationFault
├── Unreachable      no whole answer came: check address, network and certificates
└── ProblemFault     the service says why not
    ├── Denied         have the identity listed, or show who you are
    ├── Overloaded     ask again after `retry_after_s`
    ├── TimedOut       ask about less, or wait longer
    ├── SessionGone    open a session from your snapshot, which is the truth
    ├── RevisionMoved  somebody else changed the session: look at it again
    └── Invalid        correct the call
"""

from springtide.base.errors import SpringtideError
from springtide.wire.simulation.answers import Problem


class SimulationFault(SpringtideError):
    """A call was not answered."""


class Unreachable(SimulationFault):
    """The service could not be spoken to."""


class ProblemFault(SimulationFault):
    """The service says why there is no answer."""

    def __init__(self, problem: Problem, retry_after_s: float | None = None) -> None:
        super().__init__(f"{problem.title} {problem.detail}".strip())
        self.problem = problem
        self.retry_after_s = retry_after_s


class Denied(ProblemFault):
    """The client may not call."""


class Overloaded(ProblemFault):
    """Too much is asked at once."""


class TimedOut(ProblemFault):
    """The answer took longer than it may."""


class SessionGone(ProblemFault):
    """There is no such session, or no longer."""


class RevisionMoved(ProblemFault):
    """The session is at another revision, which the problem names."""


class Invalid(ProblemFault):
    """The call cannot be read, or says what cannot be."""
