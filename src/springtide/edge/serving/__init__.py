"""Serves HTTP: sockets, TLS, limits on what callers may send and how slowly.

`server` runs an application on a socket, `door` lets callers in, `protocol` bounds the head of a request,
`bodies` its body, `certificates` keeps up with files that are renewed. `application` answers by a table of
`routes`, for every process that serves. Importing it loads the server, so only processes that serve do.
"""

from springtide.edge.serving.application import (
    CROWDED,
    STRANGER,
    Application,
    Guard,
    everybody,
    peers_alone,
)
from springtide.edge.serving.bodies import Budget, Gone, Limits, Overloaded, TooLarge, TooSlow, read
from springtide.edge.serving.certificates import (
    RENEWAL_S,
    CertificateFiles,
    Certificates,
    UnusableCertificate,
    keep_renewed,
)
from springtide.edge.serving.probes import Check, probe
from springtide.edge.serving.replies import Reply, in_words, send_reply
from springtide.edge.serving.routes import Asked, Route, Routes
from springtide.edge.serving.server import CannotListen, Listener, listening, server_for

__all__ = [
    "CROWDED",
    "RENEWAL_S",
    "STRANGER",
    "Application",
    "Asked",
    "Budget",
    "CannotListen",
    "CertificateFiles",
    "Certificates",
    "Check",
    "Gone",
    "Guard",
    "Limits",
    "Listener",
    "Overloaded",
    "Reply",
    "Route",
    "Routes",
    "TooLarge",
    "TooSlow",
    "UnusableCertificate",
    "everybody",
    "in_words",
    "keep_renewed",
    "listening",
    "peers_alone",
    "probe",
    "read",
    "send_reply",
    "server_for",
]
