"""Our own metrics: how long decisions take, what they come to, and what waits."""

import re
from collections.abc import Mapping
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram

PREFIX: Final = "springtide_extender"
OTHER: Final = "other"

_REASON: Final = re.compile(r"[A-Z][A-Za-z]{2,63}")
_FAST_S: Final = (
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0,
)  # fmt: skip
_SLOW_S: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class Figures:
    """Counted and timed while the process runs."""

    def __init__(self, registry: CollectorRegistry) -> None:
        def histogram(name: str, text: str, buckets: tuple[float, ...]) -> Histogram:
            return Histogram(f"{PREFIX}_{name}", text, buckets=buckets, registry=registry)

        def counter(name: str, text: str, labels: tuple[str, ...] = ()) -> Counter:
            return Counter(f"{PREFIX}_{name}", text, labels, registry=registry)

        self.decision_s = histogram(
            "decision_seconds", "How long it takes to choose a node, without any I/O.", _FAST_S
        )
        self.filter_s = histogram(
            "filter_seconds", "How long a filter call takes, with writing the pod.", _SLOW_S
        )
        self.bind_s = histogram(
            "bind_seconds", "How long a bind call takes, with waiting for the node.", _SLOW_S
        )
        self.patch_failures = counter(
            "patch_failures", "Reservations that could not be written and were taken back."
        )
        self._filters = counter("filters", "Filter calls by what they came to.", ("verdict",))
        self._refusals = counter("refusals", "Nodes refused, by reason.", ("reason",))
        self._binds = counter("binds", "Bind calls by what they came to.", ("outcome",))
        self._reviews = counter("reviews", "Pods admitted or not.", ("outcome",))
        self._faults = counter("request_faults", "Calls that could not be understood.", ("path",))

    def filtered(self, verdict: str, reasons: Mapping[str, int]) -> None:
        """Count one filter call, and the nodes that it refused."""
        self._filters.labels(verdict).inc()
        for reason, count in reasons.items():
            # Words of our own only: texts of others would be labels without end.
            name = reason if _REASON.fullmatch(reason) else OTHER
            self._refusals.labels(name).inc(count)

    def bound(self, took_s: float, *, is_bound: bool) -> None:
        """Count one bind call."""
        self.bind_s.observe(took_s)
        self._binds.labels("bound" if is_bound else "failed").inc()

    def admitted(self, code: int) -> None:
        """Count one pod that was reviewed; 0 is one that was let in."""
        self._reviews.labels(f"refused_{code}" if code else "allowed").inc()

    def misunderstood(self, path: str) -> None:
        """Count a call that made no sense."""
        self._faults.labels(path).inc()
