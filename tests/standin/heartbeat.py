"""The lease of a node, by which the cluster knows that its kubelet lives."""

from datetime import datetime
from typing import Final

import msgspec

from springtide.edge.cluster import AlreadyThere, Cluster, ClusterFault
from springtide.model.lease import Lease
from tests.standin.bodies import micro_stamp

NAMESPACE: Final = "kube-node-lease"
LEASE_S: Final = 40


class Heartbeat:
    """A lease that is made when it is first renewed; after a fault it is looked up again."""

    def __init__(self, cluster: Cluster, name: str) -> None:
        self._cluster = cluster
        self._name = name
        self._lease: Lease | None = None

    async def renew(self, when: datetime) -> None:
        """Say that the node lives."""
        try:
            lease = self._lease or await self._first(when)
            renewed = msgspec.structs.replace(lease, renewed=micro_stamp(when))
            self._lease = await self._cluster.replace_lease(renewed)
        except ClusterFault:
            self._lease = None
            raise

    async def _first(self, when: datetime) -> Lease:
        lease = Lease(
            namespace=NAMESPACE,
            name=self._name,
            holder=self._name,
            duration_s=LEASE_S,
            renewed=micro_stamp(when),
        )
        try:
            return await self._cluster.create_lease(lease)
        except AlreadyThere:
            return await self._cluster.read_lease(NAMESPACE, self._name)
