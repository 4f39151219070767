"""A store in etcd, as our own documents say it."""

from springtide.base.clock import Rng
from springtide.edge.http import Unusable
from springtide.edge.http.configured import files_of
from springtide.edge.store.etcd.access import EtcdAccess, Pace
from springtide.edge.store.etcd.store import EtcdStore
from springtide.model.replicas.workload import Workload
from springtide.wire.crd.replica_member import EtcdEntry
from springtide.wire.crd.replica_times import whole_ms
from springtide.wire.origin import Origin
from springtide.wire.validation import Path


def etcd_store(
    entry: EtcdEntry,
    workload: Workload,
    *,
    origin: Origin,
    rng: Rng,
    is_observing: bool = False,
    path: Path = ("store", "etcd"),
) -> EtcdStore:
    """Return the store of a workload, to be entered; raises InvalidDocument."""

    def seconds(text: str, field: str) -> float:
        return whole_ms(text, origin, (*path, field)) / 1000

    is_open = all(each.startswith("http:") for each in entry.endpoints)
    access = EtcdAccess(
        endpoints=entry.endpoints,
        prefix=entry.prefix,
        discovery=entry.discovery,
        type_id=entry.type_id,
        user=entry.user,
        password_file=entry.password_file,
        tls=None if is_open else files_of(entry.tls),
        timeout_s=seconds(entry.timeout, "timeout"),
        pace=Pace(
            member_ttl_s=seconds(entry.member_ttl, "memberTtl"),
            confirm_s=seconds(entry.confirm_interval, "confirmInterval"),
        ),
    )
    try:
        return EtcdStore(access, workload, rng=rng, is_observing=is_observing)
    except Unusable as fault:
        raise origin.fault((*path, fault.field), fault.why) from fault
