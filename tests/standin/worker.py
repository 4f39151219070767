"""One node of a fleet at work: it performs what its kubelet decides, and keeps its lease.

What the kubelet does it does one after the other, and again for as long as the API server fails. A
device plugin that is asked works beside it, since it may never answer.
"""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime
from functools import partial
from typing import Final, Never, assert_never

import msgspec

from springtide.base.clock import Clock
from springtide.edge.cluster import (
    AlreadyThere,
    Cluster,
    Conflict,
    Failing,
    Metadata,
    NotFound,
    Target,
    Throttled,
    Unreachable,
    node,
    pod,
)
from tests.standin import bodies, plugin
from tests.standin.bodies import FakeNode
from tests.standin.conduct import WELL, Conduct, Plugin, of_pod
from tests.standin.hands import Hands
from tests.standin.heartbeat import Heartbeat
from tests.standin.kubelet import (
    Allocate,
    Answered,
    Event,
    Kubelet,
    Ordered,
    Remove,
    Report,
    WakeAt,
    Woken,
    step,
)
from tests.standin.seen import NODE, Node, Pod

INBOX_EVENTS: Final = 10_000
RETRY_S: Final = 0.5
# Nothing was wrong with what was asked: it is asked again.
PASSING: Final = (Unreachable, Failing, Throttled)


class Pace(msgspec.Struct, frozen=True, kw_only=True):
    """The time that nodes go by: how often kubelets renew leases and plugins report."""

    clock: Clock
    now: Callable[[], datetime]
    beat_s: float = 10.0
    report_s: float = 30.0


class Worker:
    """A node; `seeing` is told from outside what there is, and `inbox` what happens."""

    def __init__(self, cluster: Cluster, hands: Hands, pace: Pace, fake: FakeNode) -> None:
        self.seeing = plugin.Seeing()
        self.inbox: asyncio.Queue[Event] = asyncio.Queue(INBOX_EVENTS)
        self._cluster = cluster
        self._hands = hands
        self._pace = pace
        self._fake = fake
        self._conduct = WELL
        self._stirred = asyncio.Event()
        self._heartbeat = Heartbeat(cluster, fake.name)

    async def order(self, conduct: Conduct) -> None:
        """Behave like this from now on."""
        self._conduct = conduct
        self._stir()
        await self.inbox.put(Ordered(conduct))

    def see(self, seen: Node | None) -> None:
        """Take in what has become of the node; None is that it is no longer there."""
        self.seeing.node = seen
        if seen is not None and not seen.is_ready:
            self._stir()

    async def join(self) -> None:
        """Register the node, as a kubelet does when it starts."""
        await self._tried(self._register)

    async def run(self) -> Never:
        """Work until cancelled."""
        await self.join()
        async with asyncio.TaskGroup() as group:
            group.create_task(self._repeat(self._beat, self._pace.beat_s))
            group.create_task(self._repeat(self._report, self._pace.report_s))
            await self._drive(group)
        raise AssertionError("a worker works until it is cancelled")

    async def _drive(self, group: asyncio.TaskGroup) -> Never:
        """Feed the kubelet one event at a time."""
        kubelet, wake_s = Kubelet(node=self._fake.name), None
        while True:
            event = await self._next(wake_s)
            now_s = self._pace.clock.monotonic_s()
            kubelet, commands = step(kubelet, event, now_s=now_s)
            wake_s = None
            for command in commands:
                match command:
                    case WakeAt(when_s=when_s):
                        wake_s = when_s
                    case Allocate(pod=pod):
                        await self._admit(pod, group)
                    case Report() | Remove():
                        await self._tried(partial(self._do, command))
                    case _:
                        assert_never(command)

    async def _next(self, wake_s: float | None) -> Event:
        if wake_s is None:
            return await self.inbox.get()
        left_s = wake_s - self._pace.clock.monotonic_s()
        try:
            async with asyncio.timeout(max(left_s, 0.0)):
                return await self.inbox.get()
        except TimeoutError:
            return Woken()

    async def _do(self, command: Report | Remove) -> None:
        metadata = command.pod.metadata
        target = pod(metadata.namespace, metadata.name, uid=metadata.uid)
        match command:
            case Report():
                status = bodies.pod_status(command, when=self._pace.now())
                await self._hands.write_status(target, status)
            case Remove():
                await self._cluster.delete(target, grace_s=0)
            case _:
                assert_never(command)

    async def _admit(self, asked: Pod, group: asyncio.TaskGroup) -> None:
        families = [each.family for each in self._fake.devices]
        if any(each.count(family.resource) for each in asked.all_containers for family in families):
            group.create_task(self._ask_plugin(asked))
        else:
            await self.inbox.put(Answered(asked.metadata.uid))

    async def _ask_plugin(self, asked: Pod) -> None:
        conduct = await self._speaking(asked)
        await asyncio.sleep(conduct.allocate_s)
        await self.inbox.put(Answered(asked.metadata.uid, await self._given(asked, conduct)))

    async def _speaking(self, asked: Pod) -> Conduct:
        """Return how the plugin behaves, once it does anything at all."""
        while True:
            conduct, stirred = self._conduct, self._stirred
            meant = of_pod(conduct, asked.metadata.annotations)
            if meant.allocates is not Plugin.SILENT and not meant.is_silent:
                return meant
            await stirred.wait()

    async def _given(self, asked: Pod, conduct: Conduct) -> str:
        """Give a pod its devices, and return why not."""
        name = self._fake.name
        try:
            if conduct.allocates is Plugin.FAILS:
                await plugin.fail(self._cluster, name, self.seeing, asked)
                return "the device plugin has failed as it was told to"
            for each in self._fake.devices:
                await plugin.give(self._cluster, name, self.seeing, asked, family=each.family)
        except (plugin.NotGiven, NotFound, Conflict, *PASSING) as fault:
            # Like a plugin of today: what fails is not tried again, and the kubelet lets the pod fail.
            return str(fault)
        return ""

    async def _repeat(self, act: Callable[[], Awaitable[None]], every_s: float) -> Never:
        """Act again and again, and at once if something is up, unless the node is silent."""
        while True:
            stirred = self._stirred
            if not self._conduct.is_silent:
                await self._tried(act)
            try:
                async with asyncio.timeout(every_s):
                    await stirred.wait()
            except TimeoutError:
                pass

    def _stir(self) -> None:
        """Let whoever waits for the next round look at once."""
        self._stirred.set()
        self._stirred = asyncio.Event()

    async def _register(self) -> None:
        now = self._pace.now()
        try:
            await self._hands.create_node(bodies.node_object(self._fake, when=now))
        except AlreadyThere:
            await self._write_status()

    async def _beat(self) -> None:
        """Renew the lease, and say that all is well if the cluster thinks otherwise."""
        await self._heartbeat.renew(self._pace.now())
        if self.seeing.node is not None and not self.seeing.node.is_ready:
            await self._write_status()

    async def _report(self) -> None:
        """Let the device plugin register what there is, and answer the scheduler."""
        if not (self._conduct.is_reporting and self._fake.devices):
            return
        seen = self.seeing.node
        if seen is None:
            seen = await self._cluster.read(NODE, self._fake.name)
        when = bodies.stamp(self._pace.now())
        written = plugin.due(self._fake.devices, seen.metadata.annotations, when=when)
        if written:
            await self._cluster.patch(self._target, Metadata(annotations=written))

    async def _write_status(self) -> None:
        status = bodies.node_status(self._fake, when=self._pace.now())
        await self._hands.write_status(self._target, status)

    @property
    def _target(self) -> Target:
        return node(self._fake.name)

    async def _tried(self, act: Callable[[], Awaitable[None]]) -> None:
        """Act until the server answers; what is no longer there needs nothing."""
        while True:
            try:
                return await act()
            except PASSING:
                await asyncio.sleep(RETRY_S)
            except (NotFound, Conflict):
                return None
