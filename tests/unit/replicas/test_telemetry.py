"""The same metrics through OpenTelemetry."""

import subprocess
import sys
from typing import Any, Final

from msgspec.structs import replace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from springtide.model.replicas.policy import Policy
from springtide.replicas.exporting import BUILT_IN
from springtide.replicas.figures import FIGURES
from springtide.replicas.telemetry import Telemetry
from tests.member_exports import SETTINGS, Scraped

WITHOUT: Final = """
import sys
sys.modules["opentelemetry"] = sys.modules["opentelemetry.metrics"] = None
from springtide.replicas.telemetry import NoTelemetry, Telemetry
from tests.member_exports import Scraped
try:
    Telemetry(Scraped().exported, None)
except NoTelemetry as fault:
    print(fault)
"""


def collected(reader: InMemoryMetricReader) -> dict[str, Any]:
    """Return the metrics that were collected, by name."""
    found = reader.get_metrics_data()
    assert found is not None
    return {
        metric.name: metric
        for resource in found.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
    }


def test_opentelemetry_has_the_same_names_labels_and_values_as_prometheus() -> None:
    scraped, reader = Scraped(), InMemoryMetricReader()
    scraped.observers.add("rooms", lambda: 12, labels={"map": "moon"})
    meter = MeterProvider([reader], shutdown_on_exit=False).get_meter("hpa")
    Telemetry(scraped.exported, meter).instrument()
    scraped.hand.passed_s = 10
    scraped.tasks.seen(4)

    found = collected(reader)

    assert set(found) <= {*BUILT_IN, "rooms", *(each.name for each in FIGURES)}
    shared = scraped.exported.labels()
    for series in scraped.exported.collect():
        points = found[series.name].data.data_points if series.samples else []
        assert [(dict(each.attributes), each.value) for each in points] == series.samples
        assert all(labels.items() >= shared.items() for labels, _ in series.samples)


def test_names_are_final_and_counters_are_counters() -> None:
    scraped, reader = Scraped(), InMemoryMetricReader()
    meter = MeterProvider([reader], shutdown_on_exit=False).get_meter("hpa")
    Telemetry(scraped.exported, meter).instrument()

    found = collected(reader)

    assert not any(each.unit for each in found.values())
    assert found["hpa_policy_unknown_total"].data.is_monotonic
    assert not hasattr(found["hpa_leader"].data, "is_monotonic")


def test_a_reload_adds_instruments_and_makes_none_twice() -> None:
    scraped, reader = Scraped(), InMemoryMetricReader()
    meter = MeterProvider([reader], shutdown_on_exit=False).get_meter("hpa")
    telemetry = Telemetry(scraped.exported, meter)
    telemetry.instrument()
    scraped.observers.add("players", lambda: 3)

    scraped.exported.reload(replace(SETTINGS, custom=(Policy(name="players"),)))
    telemetry.instrument()

    assert [each.value for each in collected(reader)["players"].data.data_points] == [3]


def test_whoever_lacks_the_extra_is_told_what_to_install() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT], check=True, capture_output=True, text=True
    )

    assert "install springtide with its extra otel" in done.stdout
