"""Our own documents: node groups and device profiles, read strictly."""

from springtide.wire.crd.nodegroups import read_node_groups
from springtide.wire.crd.profiles import read_device_profile

__all__ = ["read_device_profile", "read_node_groups"]
