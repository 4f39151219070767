"""The guard's own metrics: how long reviews take, and what they come to."""

from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram

PREFIX: Final = "springtide_guard"
_REVIEW_S: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 3, 10)


class Figures:
    """Counted and timed while the process runs."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._review_s = Histogram(
            f"{PREFIX}_review_seconds", "How long a review takes.",
            buckets=_REVIEW_S, registry=registry,
        )  # fmt: skip
        self._reviews = Counter(
            f"{PREFIX}_reviews", "Reviews, by what they came to.", ("outcome",), registry=registry
        )

    def reviewed(self, outcome: str, took_s: float) -> None:
        """Count one review."""
        self._reviews.labels(outcome).inc()
        self._review_s.observe(took_s)
