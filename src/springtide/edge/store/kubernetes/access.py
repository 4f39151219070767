"""Where the members of one workload meet in a cluster, and which pod this process is in."""

import msgspec

from springtide.edge.cluster import (
    CONFIG_MAPS,
    DEPLOYMENTS,
    PODS,
    STATEFUL_SETS,
    Scope,
    Target,
)

STATEFUL_SET = "StatefulSet"
_WORKLOADS = {STATEFUL_SET: STATEFUL_SETS, "Deployment": DEPLOYMENTS}


class KubernetesAccess(msgspec.Struct, frozen=True, kw_only=True):
    """The objects of one workload; all are in the namespace of its pods.

    `selector` chooses the pods. `pod_uid` keeps a process from writing on a later pod of the same name; it is
    taken from the pod where it is empty. `container` is the one that the process runs in; where it is empty,
    all containers of a pod count. Only a StatefulSet gives ordinals; `ordinals_start` is read from it where it
    is None. Names that are empty are made of the workload's.
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

    @property
    def lock(self) -> str:
        """Return the name of the Lease."""
        return self.lock_name or f"{self.workload}-hpa-leader"

    @property
    def status(self) -> Target:
        """Return the ConfigMap of the status."""
        return self._config_map(self.status_name or f"{self.workload}-hpa-status")

    @property
    def records(self) -> Target:
        """Return the ConfigMap of the records."""
        return self._config_map(self.records_name or f"{self.workload}-hpa-records")

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
