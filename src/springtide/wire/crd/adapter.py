"""ReplicasAdapterConfiguration documents: which metrics the adapter serves, and where they come from.

A metric is found by the labels that its selector must bind. What is left out is safe: the two metrics of
stateful replicas are served by their own names, and an index counts only if all members have spoken.
"""

import re
from collections.abc import Mapping
from typing import Final, Literal
from urllib.parse import urlsplit

import msgspec

from springtide.base.durations import SECOND_NS, MalformedDuration, parse_duration_ns
from springtide.wire import strict
from springtide.wire.origin import Origin
from springtide.wire.validation import Path

API_VERSION: Final = "springtide.io/v1alpha1"
KIND: Final = "ReplicasAdapterConfiguration"
METRICS_MAX: Final = 256
SERIES_MAX: Final = 8
NAME_CHARS_MAX: Final = 253
QUERIES_MAX: Final = 1000
_METRIC: Final = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?")
_SERIES: Final = re.compile(r"[A-Za-z_:][A-Za-z0-9_:]*")
_LABEL: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Strict(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A part of the document in which every field counts."""


class TlsFilesEntry(
    Strict, frozen=True, kw_only=True, rename={"cert_file": "certFile", "key_file": "keyFile"}
):
    """The files of the server's certificate."""

    cert_file: str = ""
    key_file: str = ""


class ClientTlsEntry(
    Strict, frozen=True, kw_only=True, rename={"ca_file": "caFile", "cert_file": "certFile",
                                                "key_file": "keyFile", "server_name": "serverName"}
):  # fmt: skip
    """How a server is known, and how we show ourselves."""

    ca_file: str = ""
    cert_file: str = ""
    key_file: str = ""
    server_name: str = ""


class PrometheusEntry(Strict, frozen=True, kw_only=True):
    """Where samples are kept."""

    url: str
    timeout: str = "3s"
    token_file: str = ""
    headers: dict[str, str] = {}
    tls: ClientTlsEntry = ClientTlsEntry()
    queries: int = 20


class UpstreamEntry(Strict, frozen=True, kw_only=True):
    """Another server of external metrics, for names that are none of ours."""

    url: str
    timeout: str = "3s"
    token_file: str = ""
    tls: ClientTlsEntry = ClientTlsEntry()


class ObjectEntry(Strict, frozen=True, kw_only=True):
    """The workload that a metric is about: which resource it is, and the label that names it."""

    kind: Literal["StatefulSet", "Deployment", "ReplicaSet"] = "StatefulSet"
    name_label: str = "hpa_target_name"


class MetricEntry(Strict, frozen=True, kw_only=True):
    """One metric that is served."""

    name: str
    role: Literal["expected", "index", "plain"] = "plain"
    series: tuple[str, ...] = ()
    aggregator: Literal["max", "min", "sum"] = "max"
    namespace_label: str = "k8s_namespace_name"
    member_label: str = "instance"
    required_selector: tuple[str, ...] = ("hpa_target_name",)
    object: ObjectEntry = ObjectEntry()
    max_age: str = "60s"
    hold: str = "30s"
    refresh: str = "5s"
    coverage: Literal["", "pods", "records", "none"] = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names that its series may have: the exporter may add the unit."""
        return self.series or (self.name, f"{self.name}_count")

    @property
    def checks_members(self) -> bool:
        """Return whether the pods are to be counted."""
        is_default = self.role == "index" and self.coverage == ""
        return is_default or self.coverage in ("pods", "records")


EXPECTED: Final = MetricEntry(name="hpa_expect_replicas", role="expected")
INDEX: Final = MetricEntry(name="hpa_stateful_index", role="index")


class AdapterDocument(Strict, frozen=True, kw_only=True):
    """The document as written; its metadata names it and decides nothing."""

    api_version: Literal["springtide.io/v1alpha1"] = API_VERSION
    kind: Literal["ReplicasAdapterConfiguration"] = KIND
    metadata: dict[str, object] = {}
    bind_address: str = ":6443"
    metrics_bind_address: str = ":9396"
    tls: TlsFilesEntry = TlsFilesEntry()
    front_proxy: Literal["required", "none"] = "required"
    request_timeout: str = "10s"
    shutdown_delay: str = "5s"
    prometheus: PrometheusEntry
    upstream: UpstreamEntry | None = None
    serves_custom_metrics: bool = False
    metrics: tuple[MetricEntry, ...] = (EXPECTED, INDEX)


def read_adapter(value: object, *, origin: Origin) -> AdapterDocument:
    """Return the document, or raise InvalidDocument for the first fault."""
    if isinstance(value, Mapping) and value.get("kind") != KIND:
        raise origin.fault(("kind",), f"this is no {KIND}; write `kind: {KIND}`.")
    document = strict.read(value, AdapterDocument, origin=origin)
    for name, text in (
        ("requestTimeout", document.request_timeout),
        ("shutdownDelay", document.shutdown_delay),
    ):
        seconds(text, (name,), origin=origin)
    check_tls(document.tls, origin)
    check_prometheus(document.prometheus, origin)
    if document.upstream is not None:
        check_server(document.upstream, ("upstream",), origin)
    _check_metrics(document.metrics, origin)
    return document


def seconds(text: str, path: Path, *, origin: Origin) -> float:
    """Return the seconds of a duration, or raise InvalidDocument."""
    try:
        found = parse_duration_ns(text) / SECOND_NS
    except MalformedDuration as fault:
        reason = f'"{text}" is no duration; write it like 30s, 5m or 1h.'
        raise origin.fault(path, reason) from fault
    if found < 0:
        raise origin.fault(path, f'"{text}" is before it began; write no sign.')
    return found


def check_tls(tls: TlsFilesEntry, origin: Origin) -> None:
    """Raise InvalidDocument unless both files are named."""
    for name, text in (("certFile", tls.cert_file), ("keyFile", tls.key_file)):
        if not text:
            reason = (
                "the API server speaks TLS only; name the PEM file of the server's certificate."
            )
            raise origin.fault(("tls", name), reason)


def check_prometheus(entry: PrometheusEntry, origin: Origin) -> None:
    """Raise InvalidDocument unless it can be asked."""
    check_server(entry, ("prometheus",), origin)
    if not 1 <= entry.queries <= QUERIES_MAX:
        reason = f"{entry.queries} cannot be; write 1 to {QUERIES_MAX}."
        raise origin.fault(("prometheus", "queries"), reason)


def check_server(entry: PrometheusEntry | UpstreamEntry, path: Path, origin: Origin) -> None:
    """Raise InvalidDocument for what is wrong about a server."""
    check_address(entry.url, (*path, "url"), origin)
    check_positive(entry.timeout, (*path, "timeout"), origin)


def check_address(url: str, path: Path, origin: Origin) -> None:
    """Raise InvalidDocument for what is no address of a server."""
    try:
        found = urlsplit(url)
        is_good = found.scheme in ("http", "https") and bool(found.hostname)
    except ValueError:
        is_good = False
    if not is_good:
        reason = f'"{url}" is no address; write it like http://prometheus.monitoring:9090.'
        raise origin.fault(path, reason)


def check_positive(text: str, path: Path, origin: Origin) -> None:
    """Raise InvalidDocument for a duration that is none or nothing."""
    if seconds(text, path, origin=origin) <= 0:
        raise origin.fault(path, f'"{text}" leaves no time at all; write more.')


def _check_metrics(metrics: tuple[MetricEntry, ...], origin: Origin) -> None:
    if not 1 <= len(metrics) <= METRICS_MAX:
        reason = f"{len(metrics)} metrics cannot be served; write 1 to {METRICS_MAX}."
        raise origin.fault(("metrics",), reason)
    names: set[str] = set()
    for index, each in enumerate(metrics):
        path = ("metrics", index)
        if each.name in names:
            reason = f'"{each.name}" is there twice; give each metric a name of its own.'
            raise origin.fault((*path, "name"), reason)
        names.add(each.name)
        check_metric(each, path, origin)


def check_metric(metric: MetricEntry, path: Path, origin: Origin) -> None:
    """Raise InvalidDocument unless a metric can be served as it is written."""
    if not _METRIC.fullmatch(metric.name) or len(metric.name) > NAME_CHARS_MAX:
        reason = f'"{metric.name}" is no name of a metric; write letters, digits, _ . and -.'
        raise origin.fault((*path, "name"), reason)
    if len(metric.names) > SERIES_MAX:
        reason = f"{len(metric.names)} names are too many; write at most {SERIES_MAX}."
        raise origin.fault((*path, "series"), reason)
    for each in metric.names:
        if not _SERIES.fullmatch(each):
            reason = f'"{each}" is no series of Prometheus; write letters, digits, _ and :.'
            raise origin.fault((*path, "series"), reason)
    _check_labels(metric, path, origin)
    for name, text in (
        ("maxAge", metric.max_age), ("hold", metric.hold), ("refresh", metric.refresh),
    ):  # fmt: skip
        check_positive(text, (*path, name), origin)
    if metric.coverage == "records" and metric.role != "index":
        reason = "records say which index holds state; write pods or none, or `role: index`."
        raise origin.fault((*path, "coverage"), reason)
    if metric.role != "plain" and metric.aggregator != "max":
        reason = f"{metric.aggregator} would count replicas wrongly; write max, or another role."
        raise origin.fault((*path, "aggregator"), reason)


def _check_labels(metric: MetricEntry, path: Path, origin: Origin) -> None:
    given = [
        ("namespaceLabel", metric.namespace_label),
        ("memberLabel", metric.member_label),
        *(("requiredSelector", each) for each in metric.required_selector),
    ]
    for name, label in given:
        if label and not _LABEL.fullmatch(label):
            reason = f'"{label}" is no label of Prometheus; write letters, digits and _.'
            raise origin.fault((*path, name), reason)
    if not all(metric.required_selector) or not metric.required_selector:
        reason = "without one, samples of all workloads would count as one; name a label."
        raise origin.fault((*path, "requiredSelector"), reason)
    if not metric.member_label:
        raise origin.fault((*path, "memberLabel"), "it tells members apart; name a label.")
    if metric.checks_members and metric.object.name_label not in metric.required_selector:
        reason = f'"{metric.object.name_label}" names the workload; add it to requiredSelector.'
        raise origin.fault((*path, "object", "nameLabel"), reason)
