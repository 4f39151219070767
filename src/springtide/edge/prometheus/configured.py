"""Where Prometheus is and how it knows us, as our own documents say it."""

from springtide.edge.http.configured import client_tls
from springtide.edge.prometheus.asking import Access
from springtide.wire.crd.adapter import PrometheusEntry, seconds
from springtide.wire.origin import Origin
from springtide.wire.validation import Path


def prometheus_access(
    entry: PrometheusEntry, *, origin: Origin, path: Path = ("prometheus",)
) -> Access:
    """Return how Prometheus is asked; raises InvalidDocument."""
    return Access(
        url=entry.url,
        timeout_s=seconds(entry.timeout, (*path, "timeout"), origin=origin),
        token_file=entry.token_file,
        headers=entry.headers,
        tls=client_tls(entry.url, entry.tls, (*path, "tls"), origin=origin),
        queries_max=entry.queries,
    )
