"""A store in etcd, over the JSON gateway that every etcd since 3.4 has.

`store` is the port; `following` keeps a `mirror` of the keys by reads and watches, `telling` tells what changed;
`membership` and `lock` hang on `leases`; `gateway` calls, `refusals` sorts what etcd says; `spans` and `shapes`
are what travels. Keys and documents are those of `wire.replica_keys` and its neighbours.
"""

from springtide.edge.store.etcd.access import EtcdAccess, Pace
from springtide.edge.store.etcd.store import EtcdStore

__all__ = ["EtcdAccess", "EtcdStore", "Pace"]
