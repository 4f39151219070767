"""Which kind of resource a resource name stands for.

kube-scheduler keeps cpu, memory, ephemeral-storage and pods as native numbers, counts a second group
by name ("scalars": extended resources, huge pages, other kubernetes.io names and attachable volumes),
and ignores every other name. This module draws those lines.
"""

from functools import lru_cache
from typing import Final

from springtide.base.labels import key_faults

CPU: Final = "cpu"
MEMORY: Final = "memory"
EPHEMERAL_STORAGE: Final = "ephemeral-storage"
PODS: Final = "pods"
NATIVE_NAMES: Final = frozenset({CPU, MEMORY, EPHEMERAL_STORAGE, PODS})

NAME_CACHE_ENTRIES: Final = 4096

_NATIVE_DOMAIN: Final = "kubernetes.io/"
_QUOTA_PREFIX: Final = "requests."
_HUGE_PAGES_PREFIX: Final = "hugepages-"
_ATTACHABLE_PREFIX: Final = "attachable-volumes-"


@lru_cache(maxsize=NAME_CACHE_ENTRIES)
def is_extended_resource(name: str) -> bool:
    """Say whether the name is an extended resource such as `nvidia.com/gpu`."""
    if "/" not in name or _NATIVE_DOMAIN in name or name.startswith(_QUOTA_PREFIX):
        return False
    # Quotas prefix the name, so it must stay valid with the prefix.
    return not key_faults(_QUOTA_PREFIX + name)


@lru_cache(maxsize=NAME_CACHE_ENTRIES)
def is_scalar_resource(name: str) -> bool:
    """Say whether kube-scheduler counts this resource by its name."""
    return (
        name.startswith((_HUGE_PAGES_PREFIX, _ATTACHABLE_PREFIX))
        or _NATIVE_DOMAIN in name
        or is_extended_resource(name)
    )
