"""How one member that cannot embed the library is run: its store, its Prometheus, and its application.

These parts stand in the ReplicasConfiguration beside what decides. Who embeds the library needs none of them.
"""

import ipaddress
from typing import Final, Protocol
from urllib.parse import urlsplit

import msgspec

from springtide.wire.crd.adapter import ClientTlsEntry, PrometheusEntry
from springtide.wire.crd.replica_times import second_ms, whole_ms
from springtide.wire.origin import Origin
from springtide.wire.validation import Path

ENDPOINTS_MAX: Final = 32
PORT_MAX: Final = 65535
TIMEOUT_MS_MIN: Final = 10
MEMBER_MS_MIN: Final = 2_000
"""etcd counts leases in whole seconds, and one is kept alive three times in its life."""
CONFIRM_MS_MIN: Final = 1_000


class _Strict(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A part of the document in which every field counts."""


class EtcdEntry(_Strict, frozen=True, kw_only=True):
    """An etcd: where it is, how it knows us, and under which keys members meet."""

    endpoints: tuple[str, ...]
    prefix: str = "/atapp/hpa/"
    discovery: str = "/atapp/services/"
    type_id: int = 0
    user: str = ""
    password_file: str = ""
    timeout: str = "5s"
    member_ttl: str = "15s"
    confirm_interval: str = "20s"
    tls: ClientTlsEntry = ClientTlsEntry()


class KubernetesEntry(_Strict, frozen=True, kw_only=True):
    """The cluster that the pods run in; the namespace and the pod are told by the environment."""

    selector: str
    kubeconfig: str = ""
    context: str = ""
    port: int = 0


class StoreEntry(_Strict, frozen=True, kw_only=True):
    """Where members meet: exactly one of these."""

    etcd: EtcdEntry | None = None
    kubernetes: KubernetesEntry | None = None


class ApplicationEntry(_Strict, frozen=True, kw_only=True):
    """Where the application answers: `true` or `false` to the checks, and any 2xx to events."""

    ready: str = ""
    stateful: str = ""
    events: str = ""
    timeout: str = "5s"
    token_file: str = ""
    address: str = ""


class ProcessEntry(_Strict, frozen=True, kw_only=True):
    """Where operators are served, and where probes and metrics are.

    A kubelet's preStop hook reaches only what the pod shows to others: with `prestop_on_metrics` it is beside
    the metrics, where whoever reaches them may send this member away.
    """

    bind_address: str = "127.0.0.1:9398"
    metrics_bind_address: str = ":9399"
    token_file: str = ""
    prestop_on_metrics: bool = False


class Member(Protocol):
    """The parts of a document that a process beside the application needs."""

    @property
    def store(self) -> StoreEntry | None:
        """Return where members meet."""
        ...

    @property
    def prometheus(self) -> PrometheusEntry | None:
        """Return where samples are kept."""
        ...

    @property
    def application(self) -> ApplicationEntry:
        """Return where the application answers."""
        ...

    @property
    def process(self) -> ProcessEntry:
        """Return where the process is served."""
        ...


def check_member(entry: Member, origin: Origin) -> None:
    """Raise InvalidDocument for the first part that no process can be run by."""
    store = entry.store
    if store is None or (store.etcd is None) == (store.kubernetes is None):
        reason = "members need one place to meet; write either store.etcd or store.kubernetes."
        raise origin.fault(("store",), reason)
    if store.etcd is not None:
        check_etcd(store.etcd, origin, ("store", "etcd"))
    if store.kubernetes is not None:
        _check_kubernetes(store.kubernetes, origin)
    _check_application(entry.application, origin)
    _check_process(entry.process, origin)
    if entry.prometheus is not None:
        _check_url(entry.prometheus.url, ("prometheus", "url"), origin)
        whole_ms(entry.prometheus.timeout, origin, ("prometheus", "timeout"), least_ms=100)


def check_etcd(entry: EtcdEntry, origin: Origin, path: Path) -> None:
    """Raise InvalidDocument unless an etcd can be asked."""
    if not 1 <= len(entry.endpoints) <= ENDPOINTS_MAX:
        reason = f"{len(entry.endpoints)} endpoints cannot be; write 1 to {ENDPOINTS_MAX}."
        raise origin.fault((*path, "endpoints"), reason)
    for index, each in enumerate(entry.endpoints):
        _check_url(each, (*path, "endpoints", index), origin)
    for name, text in (("prefix", entry.prefix), ("discovery", entry.discovery)):
        if not text.startswith("/"):
            raise origin.fault((*path, name), f'"{text}" is no key; begin it with a slash.')
    if bool(entry.user) != bool(entry.password_file):
        missing = "passwordFile" if entry.user else "user"
        raise origin.fault((*path, missing), "a user needs both a name and a password; write it.")
    whole_ms(entry.timeout, origin, (*path, "timeout"), least_ms=TIMEOUT_MS_MIN)
    second_ms(entry.member_ttl, origin, (*path, "memberTtl"), least_ms=MEMBER_MS_MIN)
    path = (*path, "confirmInterval")
    whole_ms(entry.confirm_interval, origin, path, least_ms=CONFIRM_MS_MIN)


def _check_kubernetes(entry: KubernetesEntry, origin: Origin) -> None:
    path: Path = ("store", "kubernetes")
    if not entry.selector:
        reason = "without it the pods of others would be members; write the labels of the workload."
        raise origin.fault((*path, "selector"), reason)
    if not 0 <= entry.port <= PORT_MAX:
        raise origin.fault((*path, "port"), f"{entry.port} is no port; write 0 to {PORT_MAX}.")


def _check_application(entry: ApplicationEntry, origin: Origin) -> None:
    for name, url in (
        ("ready", entry.ready),
        ("stateful", entry.stateful),
        ("events", entry.events),
    ):
        if url:
            _check_url(url, ("application", name), origin)
    whole_ms(entry.timeout, origin, ("application", "timeout"), least_ms=TIMEOUT_MS_MIN)


def _check_process(entry: ProcessEntry, origin: Origin) -> None:
    host = entry.bind_address.rpartition(":")[0].strip("[]")
    if entry.token_file or host == "localhost" or _is_loopback(host):
        return
    reason = (
        f"{entry.bind_address} is open to others, who could then order replicas; "
        "listen on 127.0.0.1, or name a tokenFile."
    )
    raise origin.fault(("process", "bindAddress"), reason)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _check_url(url: str, path: Path, origin: Origin) -> None:
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        reason = f'"{url}" is no address; write it like http://127.0.0.1:8080/path.'
        raise origin.fault(path, reason)
