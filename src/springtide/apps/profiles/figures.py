"""The metrics of device profiles, looked at when somebody asks."""

from collections.abc import Iterator
from typing import Final

from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from springtide.apps.profiles.controller import Controller

PREFIX: Final = "springtide_profiles"


class Figures(Collector):
    """Collects them."""

    def __init__(self, controller: Controller) -> None:
        self._controller = controller

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics."""
        verification = self._controller.verification
        nodes = GaugeMetricFamily(
            f"{PREFIX}_nodes",
            "Nodes by the profile that they go by, and how they stand to it.",
            labels=["profile", "standing"],
        )
        for (profile, standing), count in sorted(verification.standings().items()):
            nodes.add_metric([profile, standing], count)
        yield nodes
        outcomes = CounterMetricFamily(
            f"{PREFIX}_outcomes",
            "What came of nodes that registered, or did not.",
            labels=["outcome"],
        )
        for outcome, count in verification.counted.items():
            outcomes.add_metric([outcome], count)
        yield outcomes
        differences = CounterMetricFamily(
            f"{PREFIX}_differences", "Nodes that differ, by each field that does.", labels=["field"]
        )
        for field, count in verification.differing.items():
            differences.add_metric([field], count)
        yield differences
        yield CounterMetricFamily(
            f"{PREFIX}_commands_failed",
            "Changes that the API server did not make.",
            value=float(self._controller.performer.failed),
        )
