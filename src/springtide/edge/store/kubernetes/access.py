"""Where the members of one workload meet in a cluster, and which pod this process is in."""

from typing import Final

import msgspec

from springtide.base.labels import is_subdomain
from springtide.base.selectors import MalformedSelector, parse_selector
from springtide.edge.cluster import (
    CONFIG_MAPS,
    DEPLOYMENTS,
    PODS,
    STATEFUL_SETS,
    Scope,
    Target,
    Unusable,
)
from springtide.model.replicas.meeting import Meeting, meeting
from springtide.model.replicas.member import READY_LABEL, TARGET_LABEL

STATEFUL_SET: Final = "StatefulSet"
PORT_MAX: Final = 65_535
_WORKLOADS: Final = {STATEFUL_SET: STATEFUL_SETS, "Deployment": DEPLOYMENTS}
_NEEDED: Final = ("namespace", "pod", "workload")
_NAMED: Final = ("status_name", "records_name", "lock_name", "values_name")


class KubernetesAccess(msgspec.Struct, frozen=True, kw_only=True):
    """The objects of one workload; all are in the namespace of its pods.

    `selector` chooses the pods. `pod_uid` keeps a process from writing on a later pod of the same name; it is
    taken from the pod where it is empty. `container` is the one that the process runs in; where it is empty,
    all containers of a pod count. Only a StatefulSet gives ordinals; `ordinals_start` is read from it where it
    is None. Names that are empty are made of the workload's. A fleet that only observes has a status and a lock
    of its own; the records are the same.
    """

    namespace: str
    pod: str
    workload: str
    selector: str
    kind: str = STATEFUL_SET
    pod_uid: str = ""
    container: str = ""
    ordinals_start: int | None = None
    port: int = 0
    status_name: str = ""
    records_name: str = ""
    lock_name: str = ""
    values_name: str = ""
    is_observing: bool = False

    @property
    def names(self) -> Meeting:
        """Return the names of the objects."""
        made = meeting(self.workload, is_observing=self.is_observing)
        return Meeting(
            status=self.status_name or made.status,
            records=self.records_name or made.records,
            lock=self.lock_name or made.lock,
            values=self.values_name or made.values,
        )

    @property
    def status(self) -> Target:
        """Return the ConfigMap of the status."""
        return self._config_map(self.names.status)

    @property
    def records(self) -> Target:
        """Return the ConfigMap of the records."""
        return self._config_map(self.names.records)

    @property
    def values(self) -> Target:
        """Return the ConfigMap of the application's own values."""
        return self._config_map(self.names.values)

    @property
    def own_pod(self) -> Target:
        """Return the pod of this process."""
        return Target(resource=PODS, namespace=self.namespace, name=self.pod, uid=self.pod_uid)

    @property
    def owner(self) -> Target | None:
        """Return the workload, None if it is of a kind whose scale is not read."""
        resource = _WORKLOADS.get(self.kind)
        if resource is None:
            return None
        return Target(resource=resource, namespace=self.namespace, name=self.workload)

    @property
    def has_ordinals(self) -> bool:
        """Return whether names of pods end in ordinals."""
        return self.kind == STATEFUL_SET

    @property
    def pods(self) -> Scope:
        """Return which pods are members."""
        return Scope(namespace=self.namespace, labels=self.selector)

    def named(self, name: str) -> Scope:
        """Return the scope of one object, as rights by name want it."""
        return Scope(namespace=self.namespace, fields=f"metadata.name={name}")

    def _config_map(self, name: str) -> Target:
        return Target(resource=CONFIG_MAPS, namespace=self.namespace, name=name)


def checked(access: KubernetesAccess) -> KubernetesAccess:
    """Return it if it can be tried, or raise Unusable with the field and the remedy."""
    for field in _NEEDED + _NAMED:
        name = getattr(access, field)
        if not name and field in _NEEDED:
            raise _wrong(field, "it is empty; give its name.")
        if name and not is_subdomain(name):
            raise _wrong(field, f'"{name}" is no name of an object; write it as kubectl shows it.')
    if access.names.status == access.names.records:
        raise _wrong("records_name", "the status has this name; give the records another one.")
    if access.names.values in (access.names.status, access.names.records):
        raise _wrong("values_name", "another ConfigMap has this name; give the values their own.")
    if not 0 <= access.port <= PORT_MAX:
        raise _wrong("port", f"{access.port} is no port; give 0 to {PORT_MAX}.")
    if (access.ordinals_start or 0) < 0:
        raise _wrong("ordinals_start", "ordinals are not negative; give what the StatefulSet has.")
    _check_selector(access.selector)
    return access


def _check_selector(text: str) -> None:
    try:
        requirements = parse_selector(text).requirements
    except MalformedSelector as fault:
        raise _wrong("selector", f"{fault}; write it as kubectl's -l takes it.") from fault
    if not requirements:
        raise _wrong("selector", "it chooses every pod; give the labels of the workload's pods.")
    if any(each.key in (TARGET_LABEL, READY_LABEL) for each in requirements):
        raise _wrong(
            "selector", "members would be lost when their labels change; leave those two out."
        )


def _wrong(field: str, why: str) -> Unusable:
    return Unusable(f"{field}: {why}")
