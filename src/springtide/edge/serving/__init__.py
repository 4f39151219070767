"""Serves HTTP: sockets, TLS, limits on what callers may send and how slowly.

`server` runs an application on a socket, `protocol` bounds the head of a request, `bodies` its body,
`certificates` keeps up with files that are renewed. Importing it loads the server, so only processes
that serve do.
"""

from springtide.edge.serving.bodies import Budget, Gone, Limits, Overloaded, TooLarge, TooSlow, read
from springtide.edge.serving.certificates import CertificateFiles, Certificates, UnusableCertificate
from springtide.edge.serving.server import (
    CannotListen,
    Listener,
    Reply,
    listening,
    send_reply,
    server_for,
)

__all__ = [
    "Budget",
    "CannotListen",
    "CertificateFiles",
    "Certificates",
    "Gone",
    "Limits",
    "Listener",
    "Overloaded",
    "Reply",
    "TooLarge",
    "TooSlow",
    "UnusableCertificate",
    "listening",
    "read",
    "send_reply",
    "server_for",
]
