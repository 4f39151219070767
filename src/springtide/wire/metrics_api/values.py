"""Values of metrics, as the lists that the metrics APIs answer.

Numbers are written exactly: a whole one as its digits, any other in thousandths and rounded up, so that no
replica is lost on the way. What is no number that a quantity can hold is the caller's to refuse.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import ROUND_CEILING, Decimal
from typing import Final, Literal

import msgspec

EXTERNAL: Final = "external.metrics.k8s.io/v1beta1"
CUSTOM: Final = "custom.metrics.k8s.io/v1beta2"
MILLI: Final = 1000


class _Wire(msgspec.Struct, frozen=True, rename="camel"):
    """A part of an answer."""


class ListMeta(_Wire, frozen=True):
    """The metadata of a list, which says nothing here."""


class ExternalMetricValue(_Wire, frozen=True, kw_only=True):
    """One value of external.metrics.k8s.io."""

    metric_name: str
    metric_labels: dict[str, str]
    timestamp: str
    window: int = 0
    value: str


class ExternalMetricValueList(_Wire, frozen=True, kw_only=True):
    """The answer of external.metrics.k8s.io."""

    kind: Literal["ExternalMetricValueList"] = "ExternalMetricValueList"
    api_version: Literal["external.metrics.k8s.io/v1beta1"] = EXTERNAL
    metadata: ListMeta = ListMeta()
    items: list[ExternalMetricValue]


class Subject(_Wire, frozen=True, kw_only=True):
    """The object that a value of custom.metrics.k8s.io is about."""

    kind: str
    namespace: str
    name: str
    api_version: str


class MetricIdentifier(_Wire, frozen=True):
    """Which metric of the object it is."""

    name: str
    selector: None = None


class MetricValue(_Wire, frozen=True, kw_only=True):
    """One value of custom.metrics.k8s.io."""

    described_object: Subject
    metric: MetricIdentifier
    timestamp: str
    window_seconds: int = 0
    value: str


class MetricValueList(_Wire, frozen=True, kw_only=True):
    """The answer of custom.metrics.k8s.io."""

    kind: Literal["MetricValueList"] = "MetricValueList"
    api_version: Literal["custom.metrics.k8s.io/v1beta2"] = CUSTOM
    metadata: ListMeta = ListMeta()
    items: list[MetricValue]


def external_list(
    metric: str, value: Decimal, *, labels: Mapping[str, str], unix_s: float
) -> bytes:
    """Return the list of one value."""
    item = ExternalMetricValue(
        metric_name=metric,
        metric_labels=dict(labels),
        timestamp=rfc3339(unix_s),
        value=quantity_text(value),
    )
    return msgspec.json.encode(ExternalMetricValueList(items=[item]))


def external_list_of_none() -> bytes:
    """Return the list of no value, by which an autoscaler holds as by an error."""
    return msgspec.json.encode(ExternalMetricValueList(items=[]))


def custom_list(metric: str, value: Decimal, *, subject: Subject, unix_s: float) -> bytes:
    """Return the list of one value about one object."""
    item = MetricValue(
        described_object=subject,
        metric=MetricIdentifier(metric),
        timestamp=rfc3339(unix_s),
        value=quantity_text(value),
    )
    return msgspec.json.encode(MetricValueList(items=[item]))


def quantity_text(value: Decimal) -> str:
    """Return a finite number as a quantity: `12`, or `10001m` where it is not whole."""
    milli = int((value * MILLI).to_integral_value(ROUND_CEILING))
    whole, rest = divmod(milli, MILLI)
    return f"{milli}m" if rest else str(whole)


def rfc3339(unix_s: float) -> str:
    """Return a time as the API writes it, in whole seconds."""
    return datetime.fromtimestamp(int(unix_s), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
