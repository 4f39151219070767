"""The pod that this process is in: what it says of its member, and that it goes on saying it."""

import asyncio
from contextlib import suppress
from functools import partial

from msgspec.structs import replace

from springtide.edge.cluster import PODS, Cluster, Kind, Metadata, NotFound
from springtide.edge.cluster import errors as cluster_faults
from springtide.edge.store.errors import Denied
from springtide.edge.store.kubernetes.access import KubernetesAccess
from springtide.model.replicas.member import Member
from springtide.wire.k8s.replica_pods import ReplicaPod, changes, decode_replica_pod


def pod_kind(access: KubernetesAccess) -> Kind[ReplicaPod]:
    """Return pods as members are read from them."""
    return Kind(PODS, partial(decode_replica_pod, container=access.container))


class Seat:
    """One pod, written on only where it says something else."""

    def __init__(self, cluster: Cluster, access: KubernetesAccess) -> None:
        self._cluster = cluster
        self._kind = pod_kind(access)
        self._target = access.own_pod
        self._turn = asyncio.Lock()
        self._member: Member | None = None

    async def sit(self, member: Member) -> None:
        """Write what the member is; it is kept so from now on."""
        assert member.name == self._target.name, "the name of a member is that of its pod"
        self._member = member
        await self.publish()

    async def leave(self) -> None:
        """Write that there is nobody here any more."""
        member, self._member = self._member, None
        if member is not None:
            # A pod that is gone has left, too.
            with suppress(NotFound):
                await self._write(member, has_left=True)

    async def publish(self) -> None:
        """Write what the pod does not say yet."""
        if self._member is not None:
            await self._write(self._member, has_left=False)

    def is_due(self, pod: ReplicaPod) -> bool:
        """Return whether a pod is this one, and says something else than it should."""
        if self._member is None or pod.name != self._target.name:
            return False
        return self._target.uid in ("", pod.uid) and any(changes(pod, self._member))

    async def _write(self, member: Member, *, has_left: bool) -> None:
        async with self._turn:
            pod = await self._cluster.read(
                self._kind, self._target.name, namespace=self._target.namespace
            )
            self._recognize(pod)
            labels, annotations = changes(pod, member, has_left=has_left)
            if labels or annotations:
                change = Metadata(labels=labels, annotations=annotations)
                try:
                    await self._cluster.patch(self._target, change)
                except cluster_faults.Conflict as fault:
                    raise self._stranger() from fault

    def _recognize(self, pod: ReplicaPod) -> None:
        if not self._target.uid:
            self._target = replace(self._target, uid=pod.uid)
        if pod.uid != self._target.uid:
            raise self._stranger()

    def _stranger(self) -> Denied:
        return Denied(
            f"{self._target} is not the one that this process is in: it was made anew. "
            "Nothing is written on it; end this process."
        )
