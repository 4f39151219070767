"""How a server is known, as our own documents say it."""

import ssl

from springtide.edge.http.errors import Unusable
from springtide.edge.http.tls import client_context
from springtide.model.scheduler import ExtenderTLSConfig
from springtide.wire.crd.adapter import ClientTlsEntry
from springtide.wire.origin import Origin
from springtide.wire.validation import Path


def files_of(entry: ClientTlsEntry) -> ExtenderTLSConfig:
    """Return the files that an entry names."""
    return ExtenderTLSConfig(
        ca_file=entry.ca_file,
        cert_file=entry.cert_file,
        key_file=entry.key_file,
        server_name=entry.server_name,
    )


def client_tls(
    url: str, entry: ClientTlsEntry, path: Path, *, origin: Origin
) -> ssl.SSLContext | None:
    """Return how a server is known, None if it speaks no TLS; raises InvalidDocument."""
    if not url.startswith("https"):
        return None
    try:
        return client_context(files_of(entry))
    except Unusable as fault:
        raise origin.fault((*path, fault.field), fault.why) from fault
