"""A client of the simulation service, for programs that wait and for those that do not.

`Client` and `AsyncClient` ask without state; `session` opens a session that ends with its block, in which
`fork` begins what is taken back unless it is committed. Answers are the records of `wire.simulation`; what
is no answer is one of the `errors`. Calls are made again where that cannot do anything twice, which holds
for all of them: changes carry an id.

    with Client(Server(url="https://springtide:9444", ca_file="ca.crt", token_file="token")) as client:
        with client.session(nodes) as session, session.fork():
            print(session.place([(pod, "node-1")]).results)
"""

from springtide.client.asynchronous import AsyncClient, AsyncSession
from springtide.client.errors import (
    Denied,
    Invalid,
    Overloaded,
    ProblemFault,
    RevisionMoved,
    SessionGone,
    SimulationFault,
    TimedOut,
    Unreachable,
)
from springtide.client.holding import copies_of
from springtide.client.server import Server
from springtide.client.synchronous import Client, Session

__all__ = [
    "AsyncClient",
    "AsyncSession",
    "Client",
    "Denied",
    "Invalid",
    "Overloaded",
    "ProblemFault",
    "RevisionMoved",
    "Server",
    "Session",
    "SessionGone",
    "SimulationFault",
    "TimedOut",
    "Unreachable",
    "copies_of",
]
