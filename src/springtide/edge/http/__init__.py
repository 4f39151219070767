"""Calls to servers that speak HTTP, in the clear or over TLS.

`exchange` posts bodies to one server and returns what it answers or why it did not, `looking` looks at a
page, `calling` asks an application short questions. `opening` has the rules by which all clients are opened, `bearer`
shows a token, `tls` says by which certificates the two know each other, `errors` lists what can go wrong.
"""

from springtide.edge.http.bearer import bearer
from springtide.edge.http.calling import Calling
from springtide.edge.http.errors import (
    HttpFault,
    Malformed,
    Refused,
    TimedOut,
    TooLarge,
    Unreachable,
    Unusable,
)
from springtide.edge.http.exchange import CONCURRENCY_MAX, Exchange, Server
from springtide.edge.http.looking import Looked, look
from springtide.edge.http.tls import client_context

__all__ = [
    "CONCURRENCY_MAX",
    "Calling",
    "Exchange",
    "HttpFault",
    "Looked",
    "Malformed",
    "Refused",
    "Server",
    "TimedOut",
    "TooLarge",
    "Unreachable",
    "Unusable",
    "bearer",
    "client_context",
    "look",
]
