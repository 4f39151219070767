"""A store in a Kubernetes cluster: a workload's pods, ConfigMaps and a Lease in one namespace.

`store` is the port on these. `seat` is the own pod with its labels, `status`, `records` and `values` are the
ConfigMaps, `lock` is the Lease as `sighting` saw it. `hearing` is what watches have shown, `telling` what was
told of it, and `following` what goes on meanwhile. `deploy/replicas/rbac.yaml` has the rights that it needs: there is
none among them to scale anything.
"""

from springtide.edge.store.kubernetes.access import KubernetesAccess
from springtide.edge.store.kubernetes.pace import Pace
from springtide.edge.store.kubernetes.store import KubernetesStore

__all__ = ["KubernetesAccess", "KubernetesStore", "Pace"]
