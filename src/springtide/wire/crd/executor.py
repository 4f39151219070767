"""ReplicasExecutorConfiguration documents: whose members are executed, by what, and who says how many.

What is left out is safe: nobody is killed, and nobody stopped unless all members have said whether they must
serve. Exactly one executor is named.
"""

import re
from collections.abc import Mapping
from typing import Final, Literal

import msgspec

from springtide.wire import strict
from springtide.wire.crd.adapter import (
    NAME_CHARS_MAX,
    SERIES_MAX,
    ClientTlsEntry,
    PrometheusEntry,
    check_address,
    check_positive,
    check_server,
    seconds,
)
from springtide.wire.crd.replica_member import EtcdEntry, check_etcd
from springtide.wire.origin import Origin
from springtide.wire.validation import Path

API_VERSION: Final = "springtide.io/v1alpha1"
KIND: Final = "ReplicasExecutorConfiguration"
REPLICAS_MAX: Final = 10_000
_TEMPLATE: Final = re.compile(r"[A-Za-z0-9:_.\\-]+@\.service")
_SERIES: Final = re.compile(r"[A-Za-z_:][A-Za-z0-9_:]*")
_LABEL: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class _Strict(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A part of the document in which every field counts."""


class ProcessEntry(_Strict, frozen=True, kw_only=True):
    """Members as processes of this machine; `{index}` stands for their number."""

    command: tuple[str, ...]
    environment: dict[str, str] = {}
    directory: str = ""
    log: str = ""
    stop_signal: Literal["SIGTERM", "SIGINT", "SIGQUIT", "SIGHUP", "SIGUSR1", "SIGUSR2"] = "SIGTERM"


class SystemdEntry(_Strict, frozen=True, kw_only=True):
    """Members as units of a template, such as `chat@.service`."""

    template: str
    user: bool = False


class ExecEntry(_Strict, frozen=True, kw_only=True):
    """A command that makes it so many, and one that says how many there are."""

    command: tuple[str, ...]
    observe: tuple[str, ...]


class WebhookEntry(_Strict, frozen=True, kw_only=True):
    """A server that makes it so many, and says at another address how many there are."""

    url: str
    observe_url: str
    token_file: str = ""
    headers: dict[str, str] = {}
    tls: ClientTlsEntry = ClientTlsEntry()


class KubeScaleEntry(_Strict, frozen=True, kw_only=True):
    """The scale of a workload in a cluster; a Deployment would not let its highest member go first."""

    namespace: str
    name: str
    kind: Literal["StatefulSet"] = "StatefulSet"
    kubeconfig: str = ""
    context: str = ""


class ExecutorEntry(_Strict, frozen=True, kw_only=True):
    """Exactly one of them."""

    process: ProcessEntry | None = None
    systemd: SystemdEntry | None = None
    exec: ExecEntry | None = None
    webhook: WebhookEntry | None = None
    k8s_scale: KubeScaleEntry | None = None

    @property
    def given(self) -> list[str]:
        """Return the names of those that are there."""
        return [name for name in KINDS if getattr(self, KINDS[name]) is not None]


KINDS: Final = {
    "process": "process",
    "systemd": "systemd",
    "exec": "exec",
    "webhook": "webhook",
    "k8sScale": "k8s_scale",
}
"""Executors as they are written, and their attributes."""
BY_INDEX: Final = frozenset({"process", "systemd"})


class BoundsEntry(_Strict, frozen=True, kw_only=True):
    """Never fewer, never more."""

    min: int = 1
    max: int


class PrometheusSourceEntry(PrometheusEntry, frozen=True, kw_only=True):
    """A Prometheus that has the metrics of the members."""

    expected_series: tuple[str, ...] = ("hpa_expect_replicas", "hpa_expect_replicas_count")
    index_series: tuple[str, ...] = ("hpa_stateful_index", "hpa_stateful_index_count")
    generation_series: tuple[str, ...] = ("hpa_status_generation", "hpa_status_generation_count")
    target_label: str = "hpa_target_name"
    namespace_label: str = "k8s_namespace_name"
    member_label: str = "instance"
    max_age: str = "60s"
    coverage: Literal["members", "none"] = "members"


class EtcdSourceEntry(EtcdEntry, frozen=True, kw_only=True):
    """The etcd in which the members meet."""

    kind: str = "StatefulSet"
    api_version: str = "apps/v1"
    environment: str = ""
    max_age: str = "60s"


class SourceEntry(_Strict, frozen=True, kw_only=True):
    """Who says how many members are wanted, and which must keep serving: exactly one of these."""

    prometheus: PrometheusSourceEntry | None = None
    etcd: EtcdSourceEntry | None = None


class ExecutorDocument(_Strict, frozen=True, kw_only=True):
    """The document as written; its metadata names it and decides nothing."""

    api_version: Literal["springtide.io/v1alpha1"] = API_VERSION
    kind: Literal["ReplicasExecutorConfiguration"] = KIND
    metadata: dict[str, object] = {}
    workload: str
    namespace: str = ""
    executor: ExecutorEntry
    source: SourceEntry
    bounds: BoundsEntry
    state_directory: str
    bind_address: str = "127.0.0.1:9397"
    interval: str = "5s"
    call_timeout: str = "10s"
    settle: str = "30s"
    grace: str = "30s"
    force_after: str = ""


def read_executor(value: object, *, origin: Origin) -> ExecutorDocument:
    """Return the document, or raise InvalidDocument for the first fault."""
    if isinstance(value, Mapping) and value.get("kind") != KIND:
        raise origin.fault(("kind",), f"this is no {KIND}; write `kind: {KIND}`.")
    document = strict.read(value, ExecutorDocument, origin=origin)
    if not 1 <= len(document.workload) <= NAME_CHARS_MAX:
        reason = "this is no name; write what the members call themselves in hpa_target_name."
        raise origin.fault(("workload",), reason)
    if not document.state_directory:
        reason = "what was applied must outlive a restart; name a folder for this workload alone."
        raise origin.fault(("stateDirectory",), reason)
    _check_bounds(document.bounds, origin)
    _check_times(document, origin)
    _check_executor(document.executor, origin)
    _check_sources(document.source, origin)
    return document


def _check_bounds(bounds: BoundsEntry, origin: Origin) -> None:
    if not 1 <= bounds.min <= REPLICAS_MAX:
        reason = f"{bounds.min} cannot be; write 1 to {REPLICAS_MAX}."
        raise origin.fault(("bounds", "min"), reason)
    if not bounds.min <= bounds.max <= REPLICAS_MAX:
        reason = f"{bounds.max} cannot be; write {bounds.min} to {REPLICAS_MAX}."
        raise origin.fault(("bounds", "max"), reason)


def _check_times(document: ExecutorDocument, origin: Origin) -> None:
    for name, text in (
        ("interval", document.interval),
        ("callTimeout", document.call_timeout),
        ("settle", document.settle),
        ("grace", document.grace),
    ):
        check_positive(text, (name,), origin)
    if not document.force_after:
        return
    grace_s = seconds(document.grace, ("grace",), origin=origin)
    if seconds(document.force_after, ("forceAfter",), origin=origin) < grace_s:
        reason = f'"{document.force_after}" is less than the grace; write {document.grace} or more.'
        raise origin.fault(("forceAfter",), reason)
    if not BY_INDEX.intersection(document.executor.given):
        reason = "members are killed by process and systemd alone; leave it out."
        raise origin.fault(("forceAfter",), reason)


def _check_executor(entry: ExecutorEntry, origin: Origin) -> None:
    if len(entry.given) != 1:
        count = "none is" if not entry.given else f"{' and '.join(entry.given)} are"
        raise origin.fault(("executor",), f"{count} there; write one of {', '.join(KINDS)}.")
    if entry.process is not None:
        _check_command(entry.process.command, ("executor", "process", "command"), origin)
    if entry.systemd is not None and not _TEMPLATE.fullmatch(entry.systemd.template):
        reason = f'"{entry.systemd.template}" is no template; write it like chat@.service.'
        raise origin.fault(("executor", "systemd", "template"), reason)
    if entry.exec is not None:
        _check_command(entry.exec.command, ("executor", "exec", "command"), origin)
        _check_command(entry.exec.observe, ("executor", "exec", "observe"), origin)
    if entry.webhook is not None:
        check_address(entry.webhook.url, ("executor", "webhook", "url"), origin)
        check_address(entry.webhook.observe_url, ("executor", "webhook", "observeUrl"), origin)


def _check_command(command: tuple[str, ...], path: Path, origin: Origin) -> None:
    if not command or not command[0]:
        raise origin.fault(path, "nothing can be run; write a list of program and arguments.")
    if any("\0" in each for each in command):
        raise origin.fault(path, "a zero character ends a text for the system; leave it out.")


def _check_sources(source: SourceEntry, origin: Origin) -> None:
    if (source.prometheus is None) == (source.etcd is None):
        reason = "one source says what is wanted; write either source.prometheus or source.etcd."
        raise origin.fault(("source",), reason)
    if source.prometheus is not None:
        _check_source(source.prometheus, origin)
    if source.etcd is not None:
        check_etcd(source.etcd, origin, ("source", "etcd"))
        check_positive(source.etcd.max_age, ("source", "etcd", "maxAge"), origin)


def _check_source(entry: PrometheusSourceEntry, origin: Origin) -> None:
    path = ("source", "prometheus")
    check_server(entry, path, origin)
    check_positive(entry.max_age, (*path, "maxAge"), origin)
    for name, series in (
        ("expectedSeries", entry.expected_series),
        ("indexSeries", entry.index_series),
        ("generationSeries", entry.generation_series),
    ):
        if not 1 <= len(series) <= SERIES_MAX or not all(map(_SERIES.fullmatch, series)):
            reason = f"write 1 to {SERIES_MAX} names of series of letters, digits, _ and :."
            raise origin.fault((*path, name), reason)
    for name, label in (
        ("targetLabel", entry.target_label),
        ("namespaceLabel", entry.namespace_label),
        ("memberLabel", entry.member_label),
    ):
        if not _LABEL.fullmatch(label):
            reason = f'"{label}" is no label of Prometheus; write letters, digits and _.'
            raise origin.fault((*path, name), reason)
