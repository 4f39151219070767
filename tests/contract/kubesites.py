"""Sites in Kubernetes: over an API server in this process, in virtual time, and over a real one.

A member's pod is made with its store, and nobody starts it: who writes on it does run. What a store reaches
goes through a gate that may be shut.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final

import msgspec

from springtide.base.clock import Clock
from springtide.edge.cluster import (
    CONFIG_MAPS,
    LEASES,
    PODS,
    Broken,
    Cluster,
    Metadata,
    NotFound,
    Target,
    Unreachable,
    pod,
)
from springtide.edge.kube import KubeCluster, Waiting
from springtide.edge.kube.transport import Answer, Query, Request, Stream, Transport
from springtide.edge.machine import MachineCalendar, SeededRng
from springtide.edge.store import CONFIRM_S, Store
from springtide.edge.store.kubernetes import KubernetesAccess, KubernetesStore, Pace
from springtide.model.config_map import ConfigMap
from springtide.wire.k8s.replica_pods import ANNOTATION
from springtide.wire.k8s.resources import Resource
from tests.contract.stores import Traits, World
from tests.kubeapi import Direct, KubeApi
from tests.objectstore import ObjectStore
from tests.virtual import LoopClock, run

WORKLOAD: Final = "chat"
SELECTOR: Final = f"app={WORKLOAD}"
CREATED: Final = 201
MARKS: Final = ("hpa_scaling_target", "hpa_scaling_ready")


class Gate:
    """A transport that may be shut: then nothing comes through, and what was on its way breaks off."""

    def __init__(self, inner: Transport) -> None:
        self._inner = inner
        self._shut = asyncio.Event()

    def shut(self) -> None:
        """Let nothing through."""
        self._shut.set()

    def open(self) -> None:
        """Let everything through again."""
        self._shut.clear()

    async def send(self, request: Request) -> Answer:
        """Return the whole answer."""
        self.check()
        answer = await self._inner.send(request)
        self.check()
        return answer

    def check(self) -> None:
        """Raise Unreachable if it is shut."""
        if self._shut.is_set():
            raise Unreachable("Nothing comes through the gate.")

    @asynccontextmanager
    async def stream(self, path: str, query: Query) -> AsyncIterator[Stream]:
        """Open an answer that goes on."""
        self.check()
        async with self._inner.stream(path, query) as stream:
            yield _Through(stream, self._shut)


class _Through:
    def __init__(self, stream: Stream, shut: asyncio.Event) -> None:
        self.status = stream.status
        self.retry_after = stream.retry_after
        self._stream = stream
        self._shut = shut

    async def chunk(self) -> bytes:
        """Return what came next, unless the gate is shut first."""
        chunk = asyncio.ensure_future(self._stream.chunk())
        shut = asyncio.ensure_future(self._shut.wait())
        try:
            await asyncio.wait((chunk, shut), return_when=asyncio.FIRST_COMPLETED)
            if self._shut.is_set():
                raise Broken("The gate was shut.")
            return chunk.result()
        finally:
            for each in (chunk, shut):
                each.cancel()
            await asyncio.gather(chunk, shut, return_exceptions=True)


class InKubernetes:
    """A `Site` in one namespace, but for how it is compacted."""

    def __init__(
        self, transport: Transport, *, namespace: str, traits: Traits, clock: Clock
    ) -> None:
        self.traits = traits
        self._transport = transport
        self._namespace = namespace
        self._clock = clock
        self._gates: dict[str, list[Gate]] = {}
        self._cut: set[str] = set()
        self._admin = self._cluster(transport)

    async def store(self, name: str) -> Store:
        """Return a store for the member of this name, whose pod there is from now on."""
        if name not in self._gates:
            await self._create(a_pod(name))
        gate = Gate(self._transport)
        self._gates.setdefault(name, []).append(gate)
        if name in self._cut:
            gate.shut()
        pace = Pace(
            clock=self._clock,
            calendar=MachineCalendar(),
            rng=SeededRng(len(name)),
            confirm_s=self.traits.confirm_s,
        )
        return KubernetesStore(self._cluster(gate), self._access(name), pace=pace)

    async def kill(self, name: str) -> None:
        """Take its pod away."""
        await self._admin.delete(pod(self._namespace, name), grace_s=0)

    async def cut(self, name: str) -> None:
        """Shut its gates."""
        self._cut.add(name)
        for each in self._gates.get(name, []):
            each.shut()

    async def heal(self, name: str) -> None:
        """Open its gates."""
        self._cut.discard(name)
        for each in self._gates.get(name, []):
            each.open()

    async def stop(self) -> None:
        """Shut all gates."""
        for name in self._gates:
            await self.cut(name)

    async def start(self) -> None:
        """Open all gates."""
        for name in self._gates:
            await self.heal(name)

    async def wipe(self) -> None:
        """Lose what was ever written, as by a backup from before the first member came."""
        access = self._access("any")
        lease = Target(resource=LEASES, namespace=self._namespace, name=access.names.lock)
        for target in (access.status, access.records, access.values, lease):
            with suppress(NotFound):
                await self._admin.delete(target)
        bare = Metadata(labels=dict.fromkeys(MARKS), annotations={ANNOTATION: None})
        for name in self._gates:
            with suppress(NotFound):
                await self._admin.patch(pod(self._namespace, name), bare)

    async def damage(self, text: bytes) -> None:
        """Write it in the status' place."""
        target, data = self._access("any").status, {"status": text.decode()}
        try:
            await self._admin.patch_data(target, data)
        except NotFound:
            made = ConfigMap(namespace=target.namespace, name=target.name, data=data)
            await self._admin.create_config_map(made)

    async def erase(self) -> None:
        """Delete the status' text."""
        with suppress(NotFound):
            await self._admin.patch_data(self._access("any").status, {"status": None})

    async def writes(self) -> int:
        """Return the latest version of anything of ours."""
        kinds = (PODS, CONFIG_MAPS, LEASES)
        return max([await self._version(each) for each in kinds])

    async def _version(self, resource: Resource) -> int:
        path = resource.path("v1", self._namespace)
        answer = await self._transport.send(Request(method="GET", path=path))
        items = msgspec.json.decode(answer.body)["items"] or []
        return max((int(each["metadata"]["resourceVersion"]) for each in items), default=0)

    async def _create(self, made: Mapping[str, Any]) -> None:
        path = PODS.path("v1", self._namespace)
        answer = await self._transport.send(Request(method="POST", path=path, body=made))
        assert answer.status == CREATED, answer.body

    def _access(self, name: str) -> KubernetesAccess:
        return KubernetesAccess(
            namespace=self._namespace,
            pod=name,
            workload=WORKLOAD,
            selector=SELECTOR,
            ordinals_start=0,
        )

    def _cluster(self, transport: Transport) -> Cluster:
        return KubeCluster(transport, waiting=Waiting(clock=self._clock, rng=SeededRng(1)))


def a_pod(name: str) -> Mapping[str, Any]:
    """Return the pod of a member."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": WORKLOAD}},
        "spec": {"containers": [{"name": "main", "image": "image"}]},
        "status": {"phase": "Pending"},
    }


class InProcess(InKubernetes):
    """A site over an API server in this process."""

    def __init__(self) -> None:
        self._objects = ObjectStore()
        super().__init__(
            Direct(KubeApi(self._objects)),
            namespace="t",
            clock=LoopClock(),
            traits=Traits(
                patience_s=120.0,
                member_ttl_s=15.0,
                lock_ttl_ms=15_000,
                confirm_s=CONFIRM_S,
                has_leases=False,
            ),
        )

    async def compact(self) -> bool:
        """Forget how everything came about."""
        self._objects.forget()
        return True


@asynccontextmanager
async def _site(_: Path) -> AsyncIterator[InProcess]:
    yield InProcess()


KUBERNETES = World(name="kubernetes", site=_site, run=run)
