"""The adapter's own metrics: how long answers take, what they come to, and how queries go."""

from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

PREFIX: Final = "springtide_adapter"
ANSWERED: Final = "answered"
OTHER: Final = "other"
_ANSWER_S: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1, 3)


class Figures:
    """Counted and timed while the process runs; only configured metrics are labels."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.answer_s = Histogram(
            f"{PREFIX}_answer_seconds",
            "How long a question takes, who asks and may ask included.",
            ("metric", "code"),
            buckets=_ANSWER_S,
            registry=registry,
        )
        self._answers = Counter(
            f"{PREFIX}_answers", "Answers, by what they came to.", ("metric", "reason"),
            registry=registry,
        )  # fmt: skip
        self._age = Gauge(
            f"{PREFIX}_sample_age_seconds",
            "How old the oldest sample was that counted in the last answer.",
            ("metric",),
            registry=registry,
        )
        self._queries = Counter(
            f"{PREFIX}_queries", "Queries, by what they came to.", ("metric", "outcome"),
            registry=registry,
        )  # fmt: skip
        self._selfcheck = Gauge(
            "hpa_adapter_selfcheck",
            "1 as long as a metric is there by one name only, 0 where it has several.",
            ("metric",),
            registry=registry,
        )

    def asked(self, metric: str, code: int, took_s: float) -> None:
        """Count one question."""
        self.answer_s.labels(metric, str(code)).observe(took_s)

    def answered(self, metric: str, age_s: float) -> None:
        """Count one value."""
        self._answers.labels(metric, ANSWERED).inc()
        self._age.labels(metric).set(max(age_s, 0.0))

    def refused(self, metric: str, reason: str) -> None:
        """Count one refusal."""
        self._answers.labels(metric, reason).inc()

    def renewed(self, metric: str) -> None:
        """Count a query that was answered."""
        self._queries.labels(metric, ANSWERED).inc()

    def checked(self, metric: str, *, is_clear: bool) -> None:
        """Say whether a metric is there by one name only."""
        self._selfcheck.labels(metric).set(is_clear)

    def failed(self, metric: str, fault: str) -> None:
        """Count a query that was not."""
        self._queries.labels(metric, fault).inc()
