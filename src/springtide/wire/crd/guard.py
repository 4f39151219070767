"""ReplicasGuardConfiguration documents: which workloads are guarded, from whom, and by which metric.

What is left out is safe: nobody is exempt but the masters of the cluster, and workloads are guarded that
say so themselves.
"""

import re
from collections.abc import Mapping
from typing import Final, Literal

import msgspec

from springtide.wire import strict
from springtide.wire.crd.adapter import (
    API_VERSION,
    INDEX,
    MetricEntry,
    PrometheusEntry,
    Strict,
    TlsFilesEntry,
    check_metric,
    check_positive,
    check_prometheus,
    check_tls,
    seconds,
)
from springtide.wire.origin import Origin

KIND: Final = "ReplicasGuardConfiguration"
MARK: Final = "springtide.io/guard-replicas"
EXEMPT_MAX: Final = 1000
WORKLOADS_MAX: Final = 10_000
_MARK: Final = re.compile(r"([a-z0-9.-]{1,253}/)?[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?")


class ExemptEntry(Strict, frozen=True, kw_only=True):
    """Who may lower replicas whatever they hold."""

    users: tuple[str, ...] = ()
    groups: tuple[str, ...] = ("system:masters",)


class WorkloadEntry(Strict, frozen=True, kw_only=True):
    """A workload that is guarded whatever it says itself."""

    namespace: str
    name: str
    kind: Literal["StatefulSet", "Deployment"] = "StatefulSet"


class GuardDocument(Strict, frozen=True, kw_only=True):
    """The document as written; its metadata names it and decides nothing."""

    api_version: Literal["springtide.io/v1alpha1"] = API_VERSION
    kind: Literal["ReplicasGuardConfiguration"] = KIND
    metadata: dict[str, object] = msgspec.field(default_factory=dict)
    bind_address: str = ":8443"
    metrics_bind_address: str = ":9397"
    tls: TlsFilesEntry = TlsFilesEntry()
    request_timeout: str = "3s"
    shutdown_delay: str = "5s"
    prometheus: PrometheusEntry
    index: MetricEntry = INDEX
    exempt: ExemptEntry = ExemptEntry()
    mark: str = MARK
    workloads: tuple[WorkloadEntry, ...] = ()


def read_guard(value: object, *, origin: Origin) -> GuardDocument:
    """Return the document, or raise InvalidDocument for the first fault."""
    if isinstance(value, Mapping) and value.get("kind") != KIND:
        raise origin.fault(("kind",), f"this is no {KIND}; write `kind: {KIND}`.")
    document = strict.read(value, GuardDocument, origin=origin)
    check_positive(document.request_timeout, ("requestTimeout",), origin)
    seconds(document.shutdown_delay, ("shutdownDelay",), origin=origin)
    check_tls(document.tls, origin)
    check_prometheus(document.prometheus, origin)
    _check_index(document.index, origin)
    _check_guarded(document, origin)
    return document


def _check_index(metric: MetricEntry, origin: Origin) -> None:
    check_metric(metric, ("index",), origin)
    if metric.role != "index":
        reason = f"{metric.role} says nothing of state; write index."
        raise origin.fault(("index", "role"), reason)
    name = metric.object.name_label
    if metric.required_selector != (name,):
        reason = f"a guard knows no more of a workload than its name; write [{name}]."
        raise origin.fault(("index", "requiredSelector"), reason)


def _check_guarded(document: GuardDocument, origin: Origin) -> None:
    if document.mark and not _MARK.fullmatch(document.mark):
        reason = f'"{document.mark}" is no key of a label; write it like {MARK}.'
        raise origin.fault(("mark",), reason)
    if not document.mark and not document.workloads:
        reason = "nothing at all would be guarded; write a mark, or list workloads."
        raise origin.fault(("mark",), reason)
    if len(document.workloads) > WORKLOADS_MAX:
        reason = f"{len(document.workloads)} are too many; write {WORKLOADS_MAX} at most."
        raise origin.fault(("workloads",), reason)
    for index, each in enumerate(document.workloads):
        for name, text in (("namespace", each.namespace), ("name", each.name)):
            if not text:
                raise origin.fault(("workloads", index, name), "it is empty; name it.")
    for name, listed in (("users", document.exempt.users), ("groups", document.exempt.groups)):
        if len(listed) > EXEMPT_MAX:
            reason = f"{len(listed)} are too many; write {EXEMPT_MAX} at most."
            raise origin.fault(("exempt", name), reason)
        if "" in listed:
            reason = "an empty name would be nobody; take it out."
            raise origin.fault(("exempt", name), reason)
