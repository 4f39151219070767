"""The executor's own metrics: what is wanted, what there is, and what went otherwise."""

from math import nan
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge

PREFIX: Final = "hpa_executor"
TARGET: Final = "hpa_target_name"


class Figures:
    """Counted while the process runs, for its one workload."""

    def __init__(self, registry: CollectorRegistry, workload: str) -> None:
        desired = Gauge(
            f"{PREFIX}_desired",
            "Members that are wanted; no number while that is unknown.",
            (TARGET,),
            registry=registry,
        )
        observed = Gauge(
            f"{PREFIX}_observed",
            "Members that there are; no number while that is unknown.",
            (TARGET,),
            registry=registry,
        )
        kills = Counter(
            f"{PREFIX}_forced_kills", "Members that were killed.", (TARGET,), registry=registry
        )
        unknown = Counter(
            f"{PREFIX}_unknown_outcome",
            "Orders of which nobody knows what came of them.",
            (TARGET,),
            registry=registry,
        )
        refused = Counter(
            f"{PREFIX}_refused",
            "Wishes of older generations that did not count.",
            (TARGET,),
            registry=registry,
        )
        self._desired, self._observed = desired.labels(workload), observed.labels(workload)
        self.kills, self.unknown = kills.labels(workload), unknown.labels(workload)
        self.refused = refused.labels(workload)
        self.show(desired=None, observed=None)

    def show(self, *, desired: int | None, observed: int | None) -> None:
        """Show what is wanted and what there is."""
        self._desired.set(nan if desired is None else desired)
        self._observed.set(nan if observed is None else observed)
