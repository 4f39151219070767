"""The workload whose replicas are decided."""

import msgspec


class Workload(msgspec.Struct, frozen=True, kw_only=True):
    """A workload as its members name themselves; empty is unsaid."""

    name: str
    kind: str = ""
    api_version: str = ""
    environment: str = ""
    service: str = ""
    service_namespace: str = ""

    @property
    def status_name(self) -> str:
        """Return what the ConfigMap of its status, and the Lease of its leader, are called in Kubernetes."""
        return f"{self.name}-hpa-status"
