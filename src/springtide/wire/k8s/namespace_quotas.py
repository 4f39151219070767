"""ResourceQuota objects (v1), as far as the schedulers of devices keep to them: their limits.

The API server takes any name under `limits.` and enforces those of cpu and memory itself. Which of
the others are devices, and whether an amount makes sense for them, only their families know.
"""

import msgspec

from springtide.model.quotas import LIMITS, NamespaceQuota
from springtide.wire.errors import MalformedObject
from springtide.wire.k8s.parts import Parts
from springtide.wire.k8s.pods import DEFAULT_NAMESPACE
from springtide.wire.k8s.schema import ABSENT, Metadata, Read


class QuotaSpec(Read, frozen=True):
    """What may be had at most, by names of the quota's own."""

    hard: msgspec.Raw = ABSENT


class ResourceQuota(Read, frozen=True, tag="ResourceQuota", tag_field="kind"):
    """What the pods of a namespace may have together."""

    api_version: str = ""
    metadata: Metadata = Metadata()
    spec: QuotaSpec = QuotaSpec()


def to_quota(read: ResourceQuota, parts: Parts) -> NamespaceQuota:
    """Return the model record of a quota, or raise MalformedObject."""
    metadata = read.metadata
    if not metadata.name:
        raise MalformedObject("metadata.name", "the quota has no name; give it one.")
    hard = parts.quantities(read.spec.hard, "spec.hard")
    return NamespaceQuota(
        namespace=metadata.namespace or DEFAULT_NAMESPACE,
        name=metadata.name,
        limits=tuple(
            (name.removeprefix(LIMITS), amount)
            for name, amount in hard
            # Names without a domain are Kubernetes' own.
            if name.startswith(LIMITS) and "/" in name
        ),
    )
