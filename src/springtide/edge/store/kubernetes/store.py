"""A store in a Kubernetes cluster, used by the process in one pod of the workload."""

from collections.abc import Set
from typing import Never

from msgspec.structs import replace

from springtide.edge.cluster import STATEFUL_SETS, Cluster, Kind, Metadata, pod
from springtide.edge.cluster import errors as cluster_faults
from springtide.edge.store.errors import Denied, StoreFault
from springtide.edge.store.fencing import Offer
from springtide.edge.store.kubernetes.access import KubernetesAccess, checked
from springtide.edge.store.kubernetes.faults import translated
from springtide.edge.store.kubernetes.following import Following, Shared
from springtide.edge.store.kubernetes.hearing import Hearing
from springtide.edge.store.kubernetes.lock import Lock
from springtide.edge.store.kubernetes.pace import Pace
from springtide.edge.store.kubernetes.records import RecordsMap
from springtide.edge.store.kubernetes.seat import Seat
from springtide.edge.store.kubernetes.sighting import Sighting
from springtide.edge.store.kubernetes.status import StatusMap, status_read
from springtide.edge.store.kubernetes.telling import Telling
from springtide.edge.store.kubernetes.values import ValuesMap, check_owned
from springtide.edge.store.looking import Looking
from springtide.edge.store.port import Deliver, Held
from springtide.edge.store.told import Away, StatusDamaged, StatusRead
from springtide.model.lease import Lease
from springtide.model.replicas.member import Member, Record
from springtide.model.replicas.values import Folder, ValueKey
from springtide.wire.k8s.replica_pods import COST, Numbering, unwritten_member
from springtide.wire.k8s.scales import decode_ordinals_start

_STARTS = Kind(STATEFUL_SETS, decode_ordinals_start)


class KubernetesStore:
    """Pods are the members, ConfigMaps hold the status, the records and values, a Lease is the lock."""

    def __init__(self, cluster: Cluster, access: KubernetesAccess, *, pace: Pace) -> None:
        """Take where to meet, or raise the cluster's Unusable for what cannot be."""
        self._cluster = cluster
        self._access = checked(access)
        self._pace = pace
        self._sighting = Sighting()
        status = StatusMap(cluster, access.status)
        lock = Lock(
            cluster,
            Lease(namespace=access.namespace, name=access.names.lock),
            fence=status,
            sighting=self._sighting,
            pace=pace,
        )
        records = RecordsMap(cluster, access.records)
        self._looking = Looking()
        self._shared = Shared(
            seat=Seat(cluster, access),
            status=status,
            records=records,
            lock=lock,
            values=ValuesMap(cluster, access.values),
            looking=self._looking,
        )

    async def follow(self, deliver: Deliver) -> Never:
        """Tell what there is and then what changes, until cancelled."""
        hearing = Hearing(self._sighting, await self._numbering_told(deliver))
        following = Following(
            self._cluster,
            self._access,
            shared=self._shared,
            hearing=hearing,
            telling=Telling(deliver, hearing, looking=self._looking),
            pace=self._pace,
        )
        await following.run()

    async def join(self, member: Member) -> None:
        """Write on the own pod what others are to see of this member."""
        with translated():
            await self._shared.seat.sit(member)

    async def leave(self) -> None:
        """Take this member out; its pod stays."""
        with translated():
            await self._shared.seat.leave()

    async def acquire(self, holder: str, *, ttl_ms: int) -> Held | None:
        """Take the lock if it is free."""
        with translated():
            return await self._shared.lock.acquire(holder, ttl_ms=ttl_ms)

    async def renew(self, token: int) -> None:
        """Hold the lock for another while."""
        with translated():
            await self._shared.lock.renew(token)

    async def release(self, token: int) -> None:
        """Give the lock back."""
        with translated():
            await self._shared.lock.release(token)

    async def put_status(self, offer: Offer) -> int:
        """Write the status and return its revision."""
        with translated():
            return await self._shared.status.put(offer, self._shared.lock.check)

    async def read_status(self) -> StatusRead | StatusDamaged:
        """Return the status as it is now."""
        with translated():
            return status_read(await self._shared.status.read())

    async def put_record(self, index: int, record: Record) -> None:
        """Write a record."""
        with translated():
            await self._shared.records.put(index, record)

    async def delete_record(self, index: int, boot: str) -> None:
        """Delete the record of this run."""
        with translated():
            await self._shared.records.delete(index, boot)

    def look_at(self, folders: Set[Folder]) -> None:
        """Tell the values of these folders; all must be of this workload."""
        for each in folders:
            check_owned(each)
        self._looking.at(folders)

    async def put_value(self, key: ValueKey, text: str) -> int:
        """Write a value, or delete it."""
        with translated():
            return await self._shared.values.put(key, text)

    async def claim_index(self, index: int) -> bool:
        """Raise Denied: pods have no leases."""
        raise Denied(
            f"{self._access.pod} cannot claim number {index}: numbers hang on leases, which pods do not have. "
            "Let members meet in etcd, or use indexAllocation: sorted."
        )

    async def set_cost(self, member: str, cost: int) -> None:
        """Write on a pod how cheap it is to its controller."""
        change = Metadata(annotations={COST: str(cost)})
        with translated():
            await self._cluster.patch(pod(self._access.namespace, member), change)

    async def replicas(self) -> int | None:
        """Return how many pods the workload has, None if this account may not know."""
        owner = self._access.owner
        if owner is None:
            return None
        with translated():
            try:
                return (await self._cluster.read_scale(owner)).current
            except (cluster_faults.Denied, cluster_faults.NotFound):
                return None

    async def ordinals_start(self) -> int:
        """Return the ordinal of the first pod, or raise Denied where it has to be given."""
        access = self._access
        if access.ordinals_start is not None or not access.has_ordinals:
            return access.ordinals_start or 0
        with translated():
            try:
                return await self._cluster.read(
                    _STARTS, access.workload, namespace=access.namespace
                )
            except (cluster_faults.Denied, cluster_faults.NotFound) as fault:
                raise Denied(
                    f"Nobody can tell at which ordinal {access.workload} begins: {fault} "
                    "Grant get on this StatefulSet, or give ordinals_start."
                ) from fault

    async def own_member(self, *, boot: str) -> Member:
        """Return who the process in this pod is, by what its pod says; to be added to and joined with.

        `boot` is nobody else's and of no other run: a restart is reported later than it happens.
        """
        with translated():
            own = await self._shared.seat.read()
        return replace(unwritten_member(own, await self._numbering()), boot=boot)

    async def _numbering(self) -> Numbering:
        access = self._access
        return Numbering(
            target=access.workload,
            ordinals_start=await self.ordinals_start(),
            has_ordinal_names=access.has_ordinals,
            port=access.port,
        )

    async def _numbering_told(self, deliver: Deliver) -> Numbering:
        """Return how pods are numbered, however long it takes to know it."""
        is_away = False
        while True:
            try:
                return await self._numbering()
            except StoreFault as fault:
                if not is_away:
                    is_away = True
                    deliver(Away(str(fault)))
            await self._pace.before_again()
