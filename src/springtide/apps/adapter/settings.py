"""What may be set of the process, and what is made of a configuration document."""

from typing import Final

import msgspec

from springtide.engine.metrics import Aggregator, Metric, Role
from springtide.wire.crd.adapter import AdapterDocument, MetricEntry, ObjectEntry, seconds
from springtide.wire.origin import Origin
from springtide.wire.validation import Path

RESOURCES: Final = {
    "StatefulSet": "statefulsets",
    "Deployment": "deployments",
    "ReplicaSet": "replicasets",
}
"""Kinds of workloads and what they are called in the API group `apps`."""


class Served(msgspec.Struct, frozen=True, kw_only=True):
    """A metric, and the kind of workload it is about with the label that names one."""

    metric: Metric
    kind: str = "StatefulSet"
    name_label: str = "hpa_target_name"

    @property
    def resource(self) -> str:
        """Return the resource of the workload."""
        return RESOURCES[self.kind]


class Deadlines(msgspec.Struct, frozen=True, kw_only=True):
    """How long things may take, in seconds; at the end everybody is answered for `leave_s` more."""

    request_s: float = 10.0
    leave_s: float = 0.0
    drain_s: float = 10.0


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of one process; `knows_front_proxy` says that it is looked up in the cluster."""

    served: tuple[Served, ...]
    knows_front_proxy: bool = True
    serves_custom_metrics: bool = False
    deadlines: Deadlines = Deadlines()


def settings(document: AdapterDocument, *, origin: Origin) -> Settings:
    """Return the settings that a document stands for."""
    return Settings(
        served=tuple(
            served(each, ("metrics", index), origin=origin)
            for index, each in enumerate(document.metrics)
        ),
        knows_front_proxy=document.front_proxy == "required",
        serves_custom_metrics=document.serves_custom_metrics,
        deadlines=Deadlines(
            request_s=seconds(document.request_timeout, ("requestTimeout",), origin=origin),
            leave_s=seconds(document.shutdown_delay, ("shutdownDelay",), origin=origin),
        ),
    )


def served(entry: MetricEntry, path: Path, *, origin: Origin) -> Served:
    """Return the metric that an entry stands for."""
    metric = Metric(
        name=entry.name,
        series=entry.names,
        role=Role(entry.role),
        aggregator=Aggregator(entry.aggregator),
        namespace_label=entry.namespace_label,
        member_label=entry.member_label,
        required=entry.required_selector,
        age_s_max=seconds(entry.max_age, (*path, "maxAge"), origin=origin),
        hold_s=seconds(entry.hold, (*path, "hold"), origin=origin),
        refresh_s=seconds(entry.refresh, (*path, "refresh"), origin=origin),
        checks_members=entry.checks_members,
        counts_records=entry.coverage == "records",
    )
    about: ObjectEntry = entry.object
    return Served(metric=metric, kind=about.kind, name_label=about.name_label)
