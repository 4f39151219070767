"""Device plugins that answer at once, for all nodes of a cluster, where a kubelet each would be too much.

They do what the scheduler waits for and nothing else: a pod that is bound and marked as being allocated
is marked as served, and the lock of its node released. There are no kubelets: pods stay pending.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final, Never

from springtide.base.annotations import BIND_ALLOCATING, BIND_PHASE, NODE_LOCK
from springtide.edge.cluster import (
    Added,
    Change,
    Cluster,
    Metadata,
    NotFound,
    Scope,
    Updated,
    node,
    pod,
)
from tests.standin.seen import POD, Pod

BOUND: Final = Scope(fields="spec.nodeName!=")
HANDS: Final = 64
SERVED: Final = "success"

Then = Callable[[Pod], Awaitable[None]]
"""Done with each pod that has been served."""


class Answering:
    """All plugins; `bound_s` says when each pod was first seen bound, by name, and `waiting` how many wait."""

    def __init__(self, cluster: Cluster, *, then: Then | None = None) -> None:
        self._cluster = cluster
        self._then = then
        self._asked: asyncio.Queue[Pod] = asyncio.Queue()
        self.bound_s: dict[str, float] = {}
        self.waiting = 0

    async def run(self) -> Never:
        """Answer until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._cluster.follow(POD, self._hear, scope=BOUND))
            for _ in range(HANDS):
                group.create_task(self._serve())
        raise AssertionError("plugins answer until they are cancelled")

    async def _hear(self, change: Change[Pod]) -> None:
        if not isinstance(change, Added | Updated):
            return
        metadata = change.record.metadata
        if metadata.name not in self.bound_s:
            self.bound_s[metadata.name] = time.perf_counter()
            if metadata.annotations.get(BIND_PHASE) == BIND_ALLOCATING:
                self.waiting += 1
                self._asked.put_nowait(change.record)

    async def _serve(self) -> Never:
        while True:
            asked = await self._asked.get()
            metadata = asked.metadata
            target = pod(metadata.namespace, metadata.name, uid=metadata.uid)
            # Whoever is gone by now has held the lock all the same.
            with suppress(NotFound):
                await self._cluster.patch(target, Metadata(annotations={BIND_PHASE: SERVED}))
            release = Metadata(annotations={NODE_LOCK: None})
            await self._cluster.patch(node(asked.spec.node_name), release)
            if self._then is not None:
                await self._then(asked)
            self.waiting -= 1
