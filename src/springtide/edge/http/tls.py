"""By which certificates a client and a server know each other.

The settings are those of a scheduler extender, and mean what they mean to kube-scheduler: data goes
before files, a CA that is given replaces those of the system, a client certificate counts only with
its key, and at least TLS 1.2 is spoken.
"""

import ssl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from springtide.edge.http.errors import Unusable
from springtide.model.scheduler import ExtenderTLSConfig

INSECURE_WITH_CA: Final = (
    "specifying a root certificates file with the insecure flag is not allowed"
)


def client_context(settings: ExtenderTLSConfig) -> ssl.SSLContext:
    """Return how a client checks servers and shows itself, or raise Unusable."""
    has_ca = bool(settings.ca_data or settings.ca_file)
    if settings.insecure and has_ca:
        raise Unusable("insecure", INSECURE_WITH_CA)
    if settings.server_name.startswith("."):
        raise Unusable("serverName", "a name cannot start with a dot; give a host name.")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.hostname_checks_common_name = False
    # Any certificate among the trusted ones may be where trust begins, as in Go.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    if settings.insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif has_ca:
        _trust(context, settings)
    else:
        context.load_default_certs()
    _show(context, settings)
    return context


def _trust(context: ssl.SSLContext, settings: ExtenderTLSConfig) -> None:
    field = "caData" if settings.ca_data else "caFile"
    data = settings.ca_data or _content(field, settings.ca_file)
    try:
        context.load_verify_locations(cadata=data.decode("ascii"))
    except (ssl.SSLError, UnicodeDecodeError) as fault:
        why = "there is no certificate in it that can be read; give PEM certificates."
        raise Unusable(field, why) from fault


def _show(context: ssl.SSLContext, settings: ExtenderTLSConfig) -> None:
    """Let the client show its certificate, if both that and its key are given."""
    has_certificate = bool(settings.cert_data or settings.cert_file)
    if not has_certificate or not (settings.key_data or settings.key_file):
        return
    cert_field = "certData" if settings.cert_data else "certFile"
    key_field = "keyData" if settings.key_data else "keyFile"
    certificate = settings.cert_data or _content(cert_field, settings.cert_file)
    key = settings.key_data or _content(key_field, settings.key_file)
    with _as_file(certificate + b"\n" + key) as path:
        try:
            context.load_cert_chain(path, password=b"")
        except (ssl.SSLError, ValueError) as fault:
            why = f"with {key_field} it is no pair of PEM certificate and key; give both anew."
            raise Unusable(cert_field, why) from fault


@contextmanager
def _as_file(data: bytes) -> Iterator[str]:
    """Keep the data in a file that only this user may read: a key is loaded from nowhere else."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pair.pem"
        path.touch(mode=0o600)
        path.write_bytes(data)
        yield str(path)


def _content(field: str, path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as fault:
        why = (
            f"{path} cannot be read: {fault.strerror or fault}. Copy the file to this machine, or "
            "give its content in the configuration instead."
        )
        raise Unusable(field, why) from fault
