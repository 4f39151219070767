"""Follows the cluster: nodes, pods and quotas as they change, told to the live scheduler.

The process is ready once each kind was told whole. A kind that cannot be heard of for long makes it no
less ready: what is known still counts, and how old it is can be seen.
"""

import asyncio
from collections.abc import Callable
from typing import Final, Never, Protocol, TypeVar, assert_never

import msgspec

from springtide.apps.extender.log import Log
from springtide.apps.extender.scheduling import Scheduling
from springtide.base.clock import Clock
from springtide.edge.cluster import (
    NODES,
    PODS,
    QUOTAS,
    Added,
    Change,
    Cluster,
    Deleted,
    Interrupted,
    Kind,
    NotServed,
    Resumed,
    Skipped,
    Synced,
    Updated,
)
from springtide.engine.live import Commands
from springtide.model.node import Node
from springtide.model.pod import Pod
from springtide.model.quotas import NamespaceQuota
from springtide.wire.k8s import Parts, decode_node, decode_pod
from springtide.wire.k8s.namespace_quotas import ResourceQuota, to_quota
from springtide.wire.k8s.parts import decoded

T = TypeVar("T")

TICK_S: Final = 1.0
_QUOTA: Final = msgspec.json.Decoder(ResourceQuota)


class NodeOnlooker(Protocol):
    """Somebody else who is told of nodes."""

    def node_seen(self, node: Node) -> None:
        """Take in a node as it is now."""
        ...

    def node_gone(self, name: str) -> None:
        """Forget a node that is gone."""
        ...


class Heard:
    """How it stands with one kind."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_whole = False
        self.skipped = 0
        self.last_s: float | None = None
        self.fault = ""


class Following:
    """What is followed for one live scheduler; `pods` are all there are, by uid.

    `onlookers` are told of nodes as well, so that they are followed and read only once.
    """

    def __init__(self, cluster: Cluster, scheduling: Scheduling, *, clock: Clock, log: Log) -> None:
        self._cluster = cluster
        self._scheduling = scheduling
        self._clock = clock
        self._log = log
        self.heard = {name: Heard(name) for name in ("nodes", "pods", "quotas")}
        self.pods: dict[str, Pod] = {}
        self.onlookers: list[NodeOnlooker] = []

    async def run(self) -> Never:
        """Follow everything, until cancelled."""
        live, parts = self._scheduling.live, Parts()
        now_s = self._scheduling.now_s
        nodes = Kind(NODES, lambda raw: decode_node(raw, parts))
        pods = Kind(PODS, lambda raw: decode_pod(raw, parts))
        quotas = Kind(QUOTAS, lambda raw: to_quota(decoded(raw, _QUOTA), parts))

        def node_seen(change: Added[Node] | Updated[Node]) -> Commands:
            for each in self.onlookers:
                each.node_seen(change.record)
            return live.node_seen(change.record, now_s=now_s(), version=change.version)

        def pod_seen(change: Added[Pod] | Updated[Pod]) -> Commands:
            self.pods[change.uid] = change.record
            return live.pod_seen(change.record, now_s=now_s())

        def quota_seen(change: Added[NamespaceQuota] | Updated[NamespaceQuota]) -> Commands:
            live.quota_seen(change.record)
            return ()

        def node_gone(change: Deleted) -> Commands:
            for each in self.onlookers:
                each.node_gone(change.key)
            return live.node_gone(change.key, now_s=now_s())

        def pod_gone(change: Deleted) -> Commands:
            self.pods.pop(change.uid, None)
            return live.pod_gone(change.uid, now_s=now_s())

        def quota_gone(change: Deleted) -> Commands:
            namespace, _, name = change.key.partition("/")
            live.quota_gone(namespace, name)
            return ()

        async with asyncio.TaskGroup() as group:
            group.create_task(self._follow("nodes", nodes, node_seen, node_gone))
            group.create_task(self._follow("pods", pods, pod_seen, pod_gone))
            group.create_task(self._follow("quotas", quotas, quota_seen, quota_gone))
            group.create_task(self._tick())
        raise AssertionError("what is followed never ends")

    async def _follow(
        self,
        name: str,
        kind: Kind[T],
        seen: Callable[[Added[T] | Updated[T]], Commands],
        gone: Callable[[Deleted], Commands],
    ) -> Never:
        heard = self.heard[name]

        async def deliver(change: Change[T]) -> None:
            self._hear(heard, change)
            try:
                match change:
                    case Added() | Updated():
                        self._scheduling.ask(seen(change))
                    case Deleted():
                        self._scheduling.ask(gone(change))
                    case Skipped() | Synced() | Interrupted() | Resumed():
                        pass
                    case _:
                        assert_never(change)
            except Exception as bug:  # noqa: BLE001 - one object is no reason to stop
                self._log(
                    "bug", is_fault=True, where=name, change=repr(change)[:256], message=repr(bug)
                )

        await self._cluster.follow(kind, deliver)

    def _hear(self, heard: Heard, change: Change[T]) -> None:
        match change:
            case Interrupted(fault=fault, failures=failures):
                if not heard.fault:
                    self._log(
                        "interrupted",
                        is_fault=True,
                        kind=heard.name,
                        failures=failures,
                        message=str(fault),
                    )
                heard.fault = str(fault)
                # A cluster without quotas for devices has none to keep to.
                heard.is_whole |= isinstance(fault, NotServed)
            case Skipped(key=key, why=why):
                heard.skipped += 1
                self._log("skipped", is_fault=True, kind=heard.name, object=key, message=why)
            case Synced():
                heard.is_whole, heard.fault = True, ""
            case Resumed():
                self._log("resumed", kind=heard.name)
                heard.fault = ""
            case _:
                pass
        if not isinstance(change, Interrupted):
            heard.last_s = self._clock.monotonic_s()
        if (
            all(each.is_whole for each in self.heard.values())
            and not self._scheduling.ready.is_set()
        ):
            self._log("rebuilt", skipped={name: each.skipped for name, each in self.heard.items()})
            self._scheduling.ready.set()

    async def _tick(self) -> Never:
        while True:
            await asyncio.sleep(TICK_S)
            self._scheduling.ask(self._scheduling.live.tick(now_s=self._scheduling.now_s()))
