"""The pod that this process is in: what it says of its member, and that it goes on saying it."""

import asyncio
from contextlib import suppress
from functools import partial
from typing import Final

from msgspec.structs import replace

from springtide.edge.cluster import PODS, Cluster, Kind, Metadata, NotFound
from springtide.edge.cluster import errors as cluster_faults
from springtide.edge.store.errors import Conflict, Denied
from springtide.edge.store.fencing import FenceReason
from springtide.edge.store.kubernetes.access import KubernetesAccess
from springtide.model.replicas.member import Member
from springtide.wire.k8s.replica_pods import ReplicaPod, changes, decode_replica_pod

TRIES_MAX: Final = 3
"""So often something is written on the pod while others change it."""


def pod_kind(access: KubernetesAccess) -> Kind[ReplicaPod]:
    """Return pods as members are read from them."""
    return Kind(PODS, partial(decode_replica_pod, container=access.container))


class Seat:
    """One pod, written on only where it says something else; `due` says that it may have to be."""

    def __init__(self, cluster: Cluster, access: KubernetesAccess) -> None:
        self.due = asyncio.Event()
        self._cluster = cluster
        self._kind = pod_kind(access)
        self._target = access.own_pod
        self._turn = asyncio.Lock()
        self._member: Member | None = None
        self._is_seated = False

    async def sit(self, member: Member) -> None:
        """Write what the member is; it is kept so from now on."""
        assert member.name == self._target.name, "the name of a member is that of its pod"
        if self._member is None or self._member.boot != member.boot:
            self._is_seated = False
        self._member = member
        try:
            await self.publish()
        except BaseException:
            self.due.set()
            raise

    async def leave(self) -> None:
        """Write that there is nobody here any more, unless another run is."""
        async with self._turn:
            member, self._member = self._member, None
            if member is None:
                return
            # A pod that is gone has left, too.
            with suppress(NotFound):
                await self._write(member, has_left=True, is_first=False)

    async def publish(self) -> None:
        """Write what the pod does not say yet, unless a later run has taken the seat."""
        async with self._turn:
            if self._member is not None:
                await self._write(self._member, has_left=False, is_first=not self._is_seated)
                self._is_seated = True

    def see(self, pod: ReplicaPod) -> None:
        """Look at a pod, whether it is this one and says something else than it should."""
        if self._member is not None and pod.name == self._target.name:
            is_ours = self._target.uid in ("", pod.uid)
            if is_ours and not _is_of_another(pod, self._member):
                labels, annotations = changes(pod, self._member)
                if labels or annotations:
                    self.due.set()

    async def read(self) -> ReplicaPod:
        """Return the pod as it is now, or raise Denied if it is another one of the same name."""
        pod = await self._cluster.read(
            self._kind, self._target.name, namespace=self._target.namespace
        )
        if not self._target.uid:
            self._target = replace(self._target, uid=pod.uid)
        if pod.uid != self._target.uid:
            raise Denied(
                f"{self._target} is not the one that this process is in: it was made anew. "
                "Nothing is written on it; end this process."
            )
        return pod

    async def _write(self, member: Member, *, has_left: bool, is_first: bool) -> None:
        """Write what differs; only the first time over what another run has written."""
        for _ in range(TRIES_MAX):
            pod = await self.read()
            if _is_of_another(pod, member) and not is_first:
                return
            labels, annotations = changes(pod, member, has_left=has_left)
            if not (labels or annotations):
                return
            try:
                await self._cluster.patch(
                    self._target, Metadata(labels=labels, annotations=annotations)
                )
            except cluster_faults.Conflict:
                # It was made anew since it was read, or the server gave up among too many changes.
                continue
            return
        words = f"{self._target} was changed by others {TRIES_MAX} times in a row."
        raise Conflict(FenceReason.CHANGED, words)


def _is_of_another(pod: ReplicaPod, member: Member) -> bool:
    """Return whether another run has written on a pod what counts now."""
    written = pod.written
    return written is not None and written.boot != member.boot
