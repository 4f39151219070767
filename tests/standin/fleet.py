"""Keeps a fleet of nodes alive in a cluster: their kubelets and device plugins, until it is cancelled.

It follows nodes and pods once for all of them, and hands each what concerns it. Time is given, so the
same fleet runs against a real server and in virtual time.
"""

import asyncio
from collections.abc import Iterable
from typing import Final, Never

from springtide.edge.cluster import Added, Change, Cluster, Deleted, Scope, Updated
from tests.standin.bodies import FakeNode
from tests.standin.conduct import Conduct
from tests.standin.hands import Hands
from tests.standin.kubelet import Seen, Vanished
from tests.standin.seen import NODE, POD, Node, Pod
from tests.standin.worker import Pace, Worker

BOUND: Final = Scope(fields="spec.nodeName!=")


class Fleet:
    """Nodes by name."""

    def __init__(
        self, cluster: Cluster, hands: Hands, nodes: Iterable[FakeNode], *, pace: Pace
    ) -> None:
        self._cluster = cluster
        self._workers = {each.name: Worker(cluster, hands, pace, each) for each in nodes}
        self._homes: dict[str, str] = {}

    async def run(self) -> Never:
        """Keep all nodes alive until cancelled."""
        async with asyncio.TaskGroup() as group:
            for worker in self._workers.values():
                group.create_task(worker.run())
            group.create_task(self._cluster.follow(NODE, self._hear_node))
            group.create_task(self._cluster.follow(POD, self._hear_pod, scope=BOUND))
        raise AssertionError("a fleet runs until it is cancelled")

    async def order(self, name: str, conduct: Conduct) -> None:
        """Let a node behave like this from now on."""
        await self._workers[name].order(conduct)

    async def join(self, name: str) -> None:
        """Let a node that was deleted come back, as when its kubelet is started again."""
        await self._workers[name].join()

    async def _hear_node(self, change: Change[Node]) -> None:
        match change:
            case Added(record=node) | Updated(record=node):
                if node.metadata.name in self._workers:
                    self._workers[node.metadata.name].see(node)
            case Deleted(key=name):
                if name in self._workers:
                    self._workers[name].see(None)
            case _:
                pass

    async def _hear_pod(self, change: Change[Pod]) -> None:
        match change:
            case Added(record=pod) | Updated(record=pod):
                await self._place(pod)
            case Deleted(uid=uid):
                await self._drop(uid)
            case _:
                pass

    async def _place(self, pod: Pod) -> None:
        name, uid = pod.spec.node_name, pod.metadata.uid
        if name in self._workers:
            self._homes[uid] = name
            worker = self._workers[name]
            worker.seeing.pods[uid] = pod
            await worker.inbox.put(Seen(pod))

    async def _drop(self, uid: str) -> None:
        name = self._homes.pop(uid, None)
        if name is not None:
            self._workers[name].seeing.pods.pop(uid, None)
            await self._workers[name].inbox.put(Vanished(uid))
