"""The metrics of the simulation's server: what is asked, what it comes to, and what is remembered."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from springtide.apps.sessions import Tally
from springtide.engine.simulation.sessions import Sessions

PREFIX: Final = "springtide_simulation"
CLASSES: Final = (
    ("node unregistered", "unregistered"),
    ("device registration malformed", "malformed"),
    ("device profile", "profile"),
    ("device allocation", "allocation"),
)
UNFIT: Final = "unfit"
_TOOK_S: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


def reason_class(text: str) -> str:
    """Return the class of a reason: what its text begins with."""
    return next((name for start, name in CLASSES if text.startswith(start)), UNFIT)


class Figures:
    """Counted and timed while the server runs."""

    def __init__(self, registry: CollectorRegistry) -> None:
        def counter(name: str, text: str, labels: tuple[str, ...] = ()) -> Counter:
            return Counter(f"{PREFIX}_{name}", text, labels, registry=registry)

        self._requests = counter(
            "requests", "Requests by what they came to.", ("endpoint", "outcome")
        )
        self._took_s = Histogram(
            f"{PREFIX}_request_seconds",
            "How long answers take, waiting included.",
            ("endpoint",),
            buckets=_TOOK_S,
            registry=registry,
        )
        self._pods = counter("pods_evaluated", "Pods that were asked about.")
        self._nodes = counter("nodes_evaluated", "Nodes that pods were held against.")
        self._replays = counter("replays", "Nodes whose pods were placed again.")
        self._memo = counter(
            "memo_lookups", "Nodes of stateless calls that were met before or not.", ("result",)
        )
        self._reasons = counter("refusals", "Nodes refused, by class of the reason.", ("class",))

    def refused(self, endpoint: str, outcome: str) -> None:
        """Count a request that was not worked on."""
        self._requests.labels(endpoint, outcome).inc()

    def answered(
        self, endpoint: str, outcome: str, *, took_s: float, tally: Tally, is_stateless: bool
    ) -> None:
        """Count a request that was."""
        self._requests.labels(endpoint, outcome).inc()
        self._took_s.labels(endpoint).observe(took_s)
        self._pods.inc(tally.pods)
        self._nodes.inc(tally.nodes * tally.pods)
        self._replays.inc(tally.replays)
        if is_stateless:
            self._memo.labels("miss").inc(tally.anew)
            self._memo.labels("hit").inc(tally.nodes - tally.anew)
        for text, count in tally.reasons.items():
            self._reasons.labels(reason_class(text)).inc(count)


class Standing(Collector):
    """How it stands at the moment it is asked: sessions, profiles, and who waits."""

    def __init__(
        self,
        sessions: Sessions,
        *,
        waiting: Callable[[], Mapping[str, int]],
        profiles: Callable[[], int],
    ) -> None:
        self._sessions = sessions
        self._waiting = waiting
        self._profiles = profiles

    def collect(self) -> Iterable[Metric]:
        """Yield the metrics."""
        counts = self._sessions.counts
        yield GaugeMetricFamily(
            f"{PREFIX}_sessions_open", "Sessions there are.", len(self._sessions)
        )
        for name, text, value in (
            ("opened", "Sessions opened.", counts.opened),
            ("expired", "Sessions whose lease ran out.", counts.expired),
            ("closed", "Sessions that were ended by their clients.", counts.closed),
            ("refused", "Sessions and nodes for which there was no room.", counts.refused),
        ):
            yield CounterMetricFamily(f"{PREFIX}_sessions_{name}", text, value)
        waiting = GaugeMetricFamily(
            f"{PREFIX}_calls_under_way", "Calls that are worked on or wait.", labels=("lane",)
        )
        for lane, count in self._waiting().items():
            waiting.add_metric([lane], count)
        yield waiting
        yield GaugeMetricFamily(
            f"{PREFIX}_profiles", "Device profiles that are used.", self._profiles()
        )
