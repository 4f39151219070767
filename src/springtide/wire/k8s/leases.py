"""Lease objects as records and back. The API wants times with exactly six digits behind the point."""

from typing import Any, Final

import msgspec

from springtide.model.lease import Lease
from springtide.wire.errors import MalformedObject
from springtide.wire.k8s.parts import decoded

API_VERSION: Final = "coordination.k8s.io/v1"


class _Metadata(msgspec.Struct, frozen=True, rename="camel"):
    name: str = ""
    namespace: str = ""
    resource_version: str = ""


class _Spec(msgspec.Struct, frozen=True, rename="camel"):
    # All may be null: an office may be empty.
    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    acquire_time: str | None = None
    renew_time: str | None = None
    lease_transitions: int | None = None


class _Lease(msgspec.Struct, frozen=True):
    metadata: _Metadata = _Metadata()
    spec: _Spec = _Spec()


_LEASE: Final = msgspec.json.Decoder(_Lease)


def decode_lease(data: bytes | msgspec.Raw) -> Lease:
    """Read a Lease object, or raise MalformedObject."""
    read = decoded(data, _LEASE)
    metadata, spec = read.metadata, read.spec
    if not metadata.name:
        raise MalformedObject("metadata.name", "the lease has no name; give it one.")
    return Lease(
        namespace=metadata.namespace,
        name=metadata.name,
        holder=spec.holder_identity or "",
        duration_s=spec.lease_duration_seconds or 0,
        acquired=spec.acquire_time or "",
        renewed=spec.renew_time or "",
        transitions=spec.lease_transitions or 0,
        version=metadata.resource_version,
    )


def lease_object(lease: Lease) -> dict[str, Any]:
    """Return the object of a lease; what is empty is left out."""
    metadata = {"name": lease.name, "namespace": lease.namespace, "resourceVersion": lease.version}
    spec = {
        "holderIdentity": lease.holder,
        "leaseDurationSeconds": lease.duration_s,
        "acquireTime": lease.acquired,
        "renewTime": lease.renewed,
    }
    return {
        "apiVersion": API_VERSION,
        "kind": "Lease",
        "metadata": {key: value for key, value in metadata.items() if value},
        "spec": {
            **{key: value for key, value in spec.items() if value},
            "leaseTransitions": lease.transitions,
        },
    }
