"""What commands that serve share: their one document, the signals that end them, and whom they call."""

import asyncio
import logging
import signal
import ssl
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from springtide.cli.endings import USAGE, Ended
from springtide.edge import files, http
from springtide.edge.lines import Forwarding, JsonLines
from springtide.edge.prometheus import Access
from springtide.model.scheduler import ExtenderTLSConfig
from springtide.wire import yaml
from springtide.wire.crd.adapter import ClientTlsEntry, PrometheusEntry, seconds
from springtide.wire.origin import Origin
from springtide.wire.validation import Path


def document_of(config: str) -> tuple[Origin, object]:
    """Return the one document of a file, and where it is, or end the command."""
    source = files.read((config,), sys.stdin.buffer)[0]
    found = yaml.documents(source.data, source.name)
    if len(found) != 1:
        raise Ended(f"{config} holds {len(found)} documents; write exactly one.", USAGE)
    return Origin(source=source.name, document=found[0]), found[0].value


@contextmanager
def forwarded(lines: JsonLines) -> Iterator[None]:
    """Write what libraries log as lines of ours meanwhile."""
    handler = Forwarding(lines)
    logging.getLogger().addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(handler)


def told_to_stop() -> asyncio.Event:
    """Return what is set when this process is asked to end."""
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    return stop


def prometheus_access(entry: PrometheusEntry, path: Path, origin: Origin) -> Access:
    """Return where Prometheus is and how it knows us, or raise InvalidDocument."""
    return Access(
        url=entry.url,
        timeout_s=seconds(entry.timeout, (*path, "timeout"), origin=origin),
        token_file=entry.token_file,
        headers=entry.headers,
        tls=tls_context(entry.url, entry.tls, (*path, "tls"), origin),
        queries_max=entry.queries,
    )


def tls_context(
    url: str, entry: ClientTlsEntry, path: Path, origin: Origin
) -> ssl.SSLContext | None:
    """Return how a server is known, None if it speaks no TLS; or raise InvalidDocument."""
    if not url.startswith("https"):
        return None
    chosen = ExtenderTLSConfig(
        ca_file=entry.ca_file,
        cert_file=entry.cert_file,
        key_file=entry.key_file,
        server_name=entry.server_name,
    )
    try:
        return http.client_context(chosen)
    except http.Unusable as fault:
        raise origin.fault((*path, fault.field), fault.why) from fault
