"""Names of annotations and labels by which schedulers and device plugins hand a pod to each other.

They are HAMi's, and what unmodified device plugins read and write, whatever the maker of the device.
"""

from typing import Final

NODE: Final = "hami.io/vgpu-node"
"""On a pod: the node that its devices are charged to (also a label)."""

RESERVED_AT: Final = "hami.io/vgpu-time"
"""On a pod: when its devices were chosen, in Unix seconds."""

BIND_PHASE: Final = "hami.io/bind-phase"
BIND_TIME: Final = "hami.io/bind-time"
BIND_ALLOCATING: Final = "allocating"
BIND_FAILED: Final = "failed"

NODE_LOCK: Final = "hami.io/mutex.lock"
"""On a node: which pod's devices its plugins are to allocate next, and since when."""
