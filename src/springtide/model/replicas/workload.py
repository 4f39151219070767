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
