"""ExtenderConfiguration documents: how a process in the place of HAMi's scheduler is set up.

Every field has a flag of HAMi's or one of ours, which goes before it. HAMi's device configuration stands
in its own words, in the document or in a file that it names. `reservationWrittenAt` is `filter` for a
kube-scheduler that binds by itself.
"""

from collections.abc import Mapping
from typing import Final, Literal

import msgspec

from springtide.base.durations import SECOND_NS, MalformedDuration, parse_duration_ns
from springtide.wire import strict
from springtide.wire.crd.simulation import SimulationEntry
from springtide.wire.origin import Origin
from springtide.wire.validation import Path

API_VERSION: Final = "springtide.io/v1alpha1"
KIND: Final = "ExtenderConfiguration"
BY_EXTENDER: Final = "extender"
BY_SCHEDULER: Final = "scheduler"
AT_FILTER: Final = "filter"


class _Strict(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A part of the document in which every field counts."""


class TlsEntry(
    _Strict, frozen=True, kw_only=True, rename={"client_ca_file": "clientCAFile",
                                                "cert_file": "certFile", "key_file": "keyFile"}
):  # fmt: skip
    """The files of the server's certificate, and of those who may call it."""

    cert_file: str = ""
    key_file: str = ""
    client_ca_file: str = ""


class LeaderElectionEntry(_Strict, frozen=True, kw_only=True):
    """Which lease says who leads: that of the kube-scheduler beside us, or one of our own."""

    enabled: bool = False
    own: bool = False
    namespace: str = ""
    name: str = ""


class DeviceProfilesEntry(_Strict, frozen=True, kw_only=True):
    """Whether the leader holds nodes against their device profiles."""

    enabled: bool = False


class LimitsEntry(_Strict, frozen=True, kw_only=True):
    """How much may be at once."""

    body_mib: int = 128
    requests: int = 64


class ExtenderDocument(_Strict, frozen=True, kw_only=True):
    """The document as written; its metadata names it and decides nothing."""

    api_version: Literal["springtide.io/v1alpha1"] = API_VERSION
    kind: Literal["ExtenderConfiguration"] = KIND
    metadata: dict[str, object] = {}
    bind_address: str = "127.0.0.1:8080"
    metrics_bind_address: str = ":9395"
    tls: TlsEntry = TlsEntry()
    scheduler_name: str = ""
    force_overwrite_default_scheduler: bool = True
    node_scheduler_policy: str = "binpack"
    gpu_scheduler_policy: str = "spread"
    node_choice: Literal["extender", "scheduler"] = BY_EXTENDER
    node_selector: dict[str, str] = {}
    node_lock_timeout: str = "5m"
    node_lock_retry_timeout: str = "28s"
    bind_wait_timeout: str = "28s"
    reservation_timeout: str = "10m"
    reservation_written_at: Literal["bind", "filter"] = "bind"
    request_timeout: str = "10s"
    shutdown_delay: str = "5s"
    leader_election: LeaderElectionEntry = LeaderElectionEntry()
    limits: LimitsEntry = LimitsEntry()
    device_profiles: DeviceProfilesEntry = DeviceProfilesEntry()
    device_config: dict[str, object] | None = None
    device_config_file: str = ""
    simulation: SimulationEntry | None = None


class Durations(msgspec.Struct, frozen=True, kw_only=True):
    """The times of a document in seconds."""

    node_lock_s: float
    node_lock_retry_s: float
    bind_wait_s: float
    reservation_s: float
    request_s: float
    leave_s: float


def read_extender(value: object, *, origin: Origin) -> ExtenderDocument:
    """Return the document, or raise InvalidDocument for the first fault."""
    if isinstance(value, Mapping) and value.get("kind") != KIND:
        raise origin.fault(("kind",), f"this is no {KIND}; write `kind: {KIND}`.")
    document = strict.read(value, ExtenderDocument, origin=origin)
    durations(document, origin=origin)
    if document.node_choice == BY_SCHEDULER and document.reservation_written_at == AT_FILTER:
        reason = "nodeChoice is scheduler, so nothing is reserved before the bind; write bind."
        raise origin.fault(("reservationWrittenAt",), reason)
    limits = document.limits
    for name, number in (("bodyMib", limits.body_mib), ("requests", limits.requests)):
        if number < 1:
            raise origin.fault(("limits", name), f"{number} is too few; write 1 or more.")
    if document.device_config is not None and document.device_config_file:
        reason = "deviceConfig is given as well, and only one can count; remove one of them."
        raise origin.fault(("deviceConfigFile",), reason)
    return document


def durations(document: ExtenderDocument, *, origin: Origin) -> Durations:
    """Return the times, or raise InvalidDocument."""

    def seconds(path: Path, text: str) -> float:
        try:
            found = parse_duration_ns(text) / SECOND_NS
        except MalformedDuration as fault:
            reason = f'"{text}" is no duration; write it like 30s, 5m or 1h.'
            raise origin.fault(path, reason) from fault
        if found < 0:
            raise origin.fault(path, f'"{text}" is before it began; write no sign.')
        return found

    return Durations(
        node_lock_s=seconds(("nodeLockTimeout",), document.node_lock_timeout),
        node_lock_retry_s=seconds(("nodeLockRetryTimeout",), document.node_lock_retry_timeout),
        bind_wait_s=seconds(("bindWaitTimeout",), document.bind_wait_timeout),
        reservation_s=seconds(("reservationTimeout",), document.reservation_timeout),
        request_s=seconds(("requestTimeout",), document.request_timeout),
        leave_s=seconds(("shutdownDelay",), document.shutdown_delay),
    )
