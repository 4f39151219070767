"""Where members meet: a status that one of them writes, a lock, who lives, and who may hold state.

`Store` is the port. `MemoryStore` keeps all of it in one process, for tests and for services of one process;
the package `etcd` keeps it there.
"""

from springtide.edge.store.errors import (
    Conflict,
    Denied,
    Malformed,
    Oversized,
    StoreFault,
    Unreachable,
)
from springtide.edge.store.fencing import FenceReason, Offer, Stored, refusal
from springtide.edge.store.memory import MemoryStore
from springtide.edge.store.memory_site import MemorySite
from springtide.edge.store.port import CONFIRM_S, MEMBERS_S_MIN, Deliver, Held, Store
from springtide.edge.store.told import (
    ABSENT,
    Away,
    Confirmed,
    LockRead,
    MembersRead,
    NumbersRead,
    RecordsRead,
    StatusDamaged,
    StatusRead,
    StoreTold,
    ValuesRead,
)

__all__ = [
    "ABSENT",
    "CONFIRM_S",
    "MEMBERS_S_MIN",
    "Away",
    "Confirmed",
    "Conflict",
    "Deliver",
    "Denied",
    "FenceReason",
    "Held",
    "LockRead",
    "Malformed",
    "MembersRead",
    "MemorySite",
    "MemoryStore",
    "NumbersRead",
    "Offer",
    "Oversized",
    "RecordsRead",
    "StatusDamaged",
    "StatusRead",
    "Store",
    "StoreFault",
    "StoreTold",
    "Stored",
    "Unreachable",
    "ValuesRead",
    "refusal",
]
