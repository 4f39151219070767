"""The certificate that a server shows, and whose it accepts: files that are renewed while it runs.

Every handshake gets the newest files that make sense. A pair that does not match, as while it is being
written, leaves the one before in use.
"""

import asyncio
import hashlib
import ssl
from pathlib import Path
from typing import Final, Never

import msgspec

from springtide.base.errors import SpringtideError
from springtide.edge.lines import Log

RENEWAL_S: Final = 10.0
"""So often the files of a certificate are looked at."""


class UnusableCertificate(SpringtideError):
    """The files of a server do not make a certificate."""


class CertificateFiles(msgspec.Struct, frozen=True, kw_only=True):
    """Where the certificate and its key are, and the authorities of clients if they must show one."""

    certificate: str
    key: str
    client_authorities: str = ""

    @property
    def paths(self) -> tuple[str, ...]:
        """Return the files there are."""
        return tuple(path for path in (self.certificate, self.key, self.client_authorities) if path)


class Certificates:
    """What the files say, looked at anew whenever `renew` is called."""

    def __init__(self, files: CertificateFiles) -> None:
        self._files = files
        self._authorities = ""
        self._seen = _digest(files)
        self._current = _context(files)
        self.context = _context(files)
        self.context.sni_callback = self._choose

    def renew(self) -> bool:
        """Take up files that have changed, and return whether they had; or raise UnusableCertificate."""
        seen = _digest(self._files)
        if seen == self._seen:
            return False
        self._current = _context(self._files, self._authorities)
        self._seen = seen
        return True

    def trust(self, authorities: str) -> bool:
        """Accept clients of these authorities (PEM) alone from the next handshake on.

        Returns whether they are others than before, or raises UnusableCertificate and changes nothing.
        """
        if authorities == self._authorities:
            return False
        self._current = _context(self._files, authorities)
        self._authorities = authorities
        # Whether one is asked for is settled before the newest context is given.
        self.context.verify_mode = ssl.CERT_OPTIONAL
        return True

    def _choose(self, connection: ssl.SSLObject, name: str | None, context: ssl.SSLContext) -> None:
        """Give a handshake the newest context; it is called for every one, with or without a name."""
        del name, context
        connection.context = self._current


def _context(files: CertificateFiles, authorities: str = "") -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    # Nothing after the first handshake is worth keeping for callers that stay connected.
    context.options |= ssl.OP_NO_TICKET
    try:
        context.load_cert_chain(files.certificate, files.key, password=b"")
        if files.client_authorities:
            context.load_verify_locations(files.client_authorities)
            # Probes show none; who must show one is decided by what it asks for.
            context.verify_mode = ssl.CERT_OPTIONAL
        if authorities:
            context.load_verify_locations(cadata=authorities)
            context.verify_mode = ssl.CERT_OPTIONAL
    except (ssl.SSLError, OSError, ValueError) as fault:
        raise UnusableCertificate(
            f"{' and '.join(files.paths)} cannot be used: {fault}. "
            "Give the PEM files of a certificate and its key."
        ) from fault
    return context


async def keep_renewed(
    certificates: Certificates, log: Log, *, every_s: float = RENEWAL_S
) -> Never:
    """Look at the files of certificates now and then, and tell what became of it."""
    while True:
        await asyncio.sleep(every_s)
        try:
            if certificates.renew():
                log("certificate_renewed")
        except UnusableCertificate as fault:
            log("certificate_unusable", is_fault=True, message=str(fault))


def _digest(files: CertificateFiles) -> bytes:
    """Return what tells contents apart: links of mounted secrets change without a newer time."""
    digest = hashlib.sha256()
    for path in files.paths:
        try:
            content = Path(path).read_bytes()
        except OSError as fault:
            raise UnusableCertificate(
                f"{path} cannot be read: {fault.strerror or fault}. Check that it is mounted."
            ) from fault
        digest.update(len(content).to_bytes(8))
        digest.update(content)
    return digest.digest()
