"""Our own documents: node groups and device profiles, read strictly.

`profiles` reads device profiles from files and from the cluster, `writing` writes them; the definition
that an API server needs of them is generated from the records.
"""

from springtide.wire.crd.nodegroups import read_node_groups
from springtide.wire.crd.profiles import read_device_profile

__all__ = ["read_device_profile", "read_node_groups"]
