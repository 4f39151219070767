"""Labels the replicas by who leads, so that a Service that selects the leader finds it.

The leader labels all of them: who stopped leading may be unable to say so. The label is HAMi's, and so is
what marks the replicas.
"""

import asyncio
from typing import Final, Never

import msgspec

from springtide.apps.extender.log import Log
from springtide.apps.extender.performing import Performer
from springtide.apps.extender.scheduling import Scheduling
from springtide.edge.cluster import (
    PODS,
    Added,
    Change,
    Cluster,
    Deleted,
    Interrupted,
    Kind,
    Scope,
    Updated,
)
from springtide.engine.live import PatchPod

ROLE: Final = "hami.io/scheduler-role"
LEADER, FOLLOWER = "leader", "follower"
AGAIN_S: Final = 30.0
"""After so long a label that is still wrong is asked for again."""


class _Metadata(msgspec.Struct, frozen=True):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    labels: dict[str, str] = {}


class _Replica(msgspec.Struct, frozen=True):
    metadata: _Metadata = _Metadata()


_REPLICAS: Final = Kind(PODS, msgspec.json.Decoder(_Replica).decode)


class Roles:
    """The labels of the replicas."""

    def __init__(
        self,
        cluster: Cluster,
        scheduling: Scheduling,
        performer: Performer,
        *,
        own: str,
        scope: Scope,
        log: Log,
    ) -> None:
        self._cluster = cluster
        self._scheduling = scheduling
        self._performer = performer
        self._own = own
        self._scope = scope
        self._log = log
        self._replicas: dict[str, _Metadata] = {}
        self._asked: dict[str, str] = {}

    async def run(self) -> Never:
        """Follow the replicas, and label them while leading."""
        self._scheduling.onlookers.append(self._label)
        async with asyncio.TaskGroup() as group:
            group.create_task(self._cluster.follow(_REPLICAS, self._hear, scope=self._scope))
            group.create_task(self._again())
        raise AssertionError("what is followed never ends")

    async def _hear(self, change: Change[_Replica]) -> None:
        match change:
            case Added(key=key, record=replica) | Updated(key=key, record=replica):
                self._replicas[key] = replica.metadata
                self._asked.pop(key, None)
            case Deleted(key=key):
                self._replicas.pop(key, None)
                self._asked.pop(key, None)
            case Interrupted(fault=fault):
                self._log("interrupted", is_fault=True, kind="replicas", message=str(fault))
            case _:
                pass
        self._label()

    async def _again(self) -> Never:
        while True:
            await asyncio.sleep(AGAIN_S)
            self._asked.clear()
            self._label()

    def _label(self) -> None:
        if not self._scheduling.is_leading:
            self._asked.clear()
            return
        for key, replica in self._replicas.items():
            role = LEADER if replica.name == self._own else FOLLOWER
            if role in (replica.labels.get(ROLE), self._asked.get(key)):
                continue
            self._asked[key] = role
            self._performer.ask((_patch(replica, role),))


def _patch(replica: _Metadata, role: str) -> PatchPod:
    return PatchPod(
        uid=replica.uid,
        namespace=replica.namespace,
        name=replica.name,
        annotations={},
        labels={ROLE: role},
    )
