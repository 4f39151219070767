"""The same metrics through OpenTelemetry, on a meter that the application gives: `springtide[otel]`.

Names are final and without units, so that exporters add nothing to them. Instruments cannot be taken back: what a
reload drops has no samples any more, and for what it adds call `instrument` again.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias

from springtide.model.replicas.policy import MetricKind
from springtide.replicas.exporting import BUILT_IN, Exported, Series
from springtide.replicas.figures import FIGURES

if TYPE_CHECKING:
    from opentelemetry.metrics import CallbackOptions, Meter, Observation

MISSING: Final = (
    "OpenTelemetry is not installed; install springtide with its extra otel, or export by "
    "springtide.replicas.exporting."
)
Read: TypeAlias = "Callable[[], Series | None]"


class NoTelemetry(Exception):
    """The extra is not installed."""


class Telemetry:
    """The instruments of one member on one meter."""

    def __init__(self, exported: Exported, meter: "Meter") -> None:
        try:
            from opentelemetry.metrics import Observation  # noqa: PLC0415 - an extra
        except ImportError as fault:
            raise NoTelemetry(MISSING) from fault
        self._observation = Observation
        self._exported = exported
        self._meter = meter
        self._known: set[str] = set()

    def instrument(self) -> None:
        """Make an instrument for every metric that has none yet."""
        shown = self._exported
        for figure in FIGURES:
            read: Read = partial(shown.figure, figure)
            self._make(shown.name(figure), figure.text, figure.kind, read)
        for name, text in BUILT_IN.items():
            self._make(name, text, MetricKind.GAUGE, partial(shown.built_in, name))
        for name, policy in shown.policies.items():
            text = f"What the application says for the policy {policy.name}."
            self._make(name, text, policy.kind, partial(shown.custom, name))

    def _make(self, name: str, text: str, kind: MetricKind, read: Read) -> None:
        if name in self._known:
            return
        self._known.add(name)
        make = (
            self._meter.create_observable_counter
            if kind is MetricKind.COUNTER
            else self._meter.create_observable_gauge
        )
        make(name, callbacks=[self._callback(read)], description=text)

    def _callback(self, read: Read) -> "Callable[[CallbackOptions], Iterable[Observation]]":
        def observe(_options: "CallbackOptions") -> "Iterable[Observation]":
            series = read()
            samples = series.samples if series is not None else []
            return [self._observation(value, labels) for labels, value in samples]

        return observe
