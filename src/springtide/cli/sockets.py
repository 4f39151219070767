"""The sockets of commands that serve autoscalers and API servers over TLS."""

from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager

from springtide.apps.adapter import Endpoints
from springtide.edge.serving import CertificateFiles, Certificates, listening
from springtide.wire.crd.adapter import TlsFilesEntry


@asynccontextmanager
async def opened(tls: TlsFilesEntry, *, calls: str, pages: str) -> AsyncIterator[Endpoints]:
    """Open the sockets of these addresses while the block is entered; pages are nowhere if empty."""
    certificates = Certificates(CertificateFiles(certificate=tls.cert_file, key=tls.key_file))
    with ExitStack() as stack:
        called = listening(calls)
        stack.callback(called.socket.close)
        shown = None
        if pages:
            shown = listening(pages)
            stack.callback(shown.socket.close)
        yield Endpoints(calls=called, certificates=certificates, pages=shown)
