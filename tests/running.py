"""An extender over a cluster in memory, called over HTTP on loopback, with kubelets that can be ordered."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, TypeVar

import msgspec

from springtide.apps.extender import Candidacy, Deadlines, Endpoints, Process, Settings, Times
from springtide.apps.planner.families import Policies, families
from springtide.edge.cluster import Cluster, ClusterFault, Metadata, Target
from springtide.edge.machine import MachineCalendar, MachineClock
from springtide.edge.serving import Certificates, Listener, listening
from springtide.engine.live import Live, LiveSettings
from springtide.model.device import Device
from springtide.wire.hami import register
from tests.builders import REGISTRATION, card
from tests.loopback import Answer, Told, call
from tests.memorycluster import MemoryCluster
from tests.objectstore import Object, ObjectStore

T = TypeVar("T")
LIMIT_S: Final = 20.0
"""Long enough for a machine that is busy with other tests."""
NODES, PODS, EVENTS, QUOTAS = ("", "nodes"), ("", "pods"), ("", "events"), ("", "resourcequotas")
LOCK = "hami.io/mutex.lock"
NODE = "hami.io/vgpu-node"
PHASE = "hami.io/bind-phase"
SCHEDULER = "hami-scheduler"


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a test on the real loop: sockets do not wait in virtual time."""
    return asyncio.run(asyncio.wait_for(work, 30))


async def until(holds: Callable[[], object]) -> None:
    """Let everybody else go on until something holds."""
    end_s = time.monotonic() + LIMIT_S
    while not holds():
        assert time.monotonic() < end_s, "it never came to that"
        await asyncio.sleep(0)


def node_object(name: str, cards: Sequence[Device]) -> Object:
    """Return a node whose plugin has registered these cards."""
    amounts = {"cpu": "8", "memory": "64Gi", "pods": "110", "nvidia.com/gpu": str(10 * len(cards))}
    return {
        "metadata": {"name": name, "annotations": {REGISTRATION: register.encode(cards)}},
        "spec": {},
        "status": {
            "capacity": amounts,
            "allocatable": amounts,
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def pod_object(name: str, **limits: str | int) -> Object:
    """Return a pod that asks for so much of NVIDIA's resources."""
    amounts = {f"nvidia.com/{key}": str(value) for key, value in limits.items()}
    return {
        "metadata": {"name": name, "namespace": "team"},
        "spec": {
            "schedulerName": SCHEDULER,
            "containers": [{"name": "main", "resources": {"limits": amounts, "requests": amounts}}],
        },
        "status": {"phase": "Pending"},
    }


class Unwilling(MemoryCluster):
    """A cluster whose API server fails when it is told to."""

    def __init__(self, store: ObjectStore) -> None:
        super().__init__(store)
        self.faults: list[ClusterFault] = []
        self.held = asyncio.Event()
        self.held.set()

    async def patch(self, target: Target, change: Metadata) -> str:
        """Patch, unless something was to go wrong first."""
        await self.held.wait()
        if target.resource.plural == "pods" and self.faults:
            raise self.faults.pop(0)
        return await super().patch(target, change)


class World:
    """The store, and what kubelets and plugins do in it."""

    def __init__(self) -> None:
        self.store = ObjectStore()

    def add_node(self, name: str, *cards: Device) -> None:
        """Add a node with cards, two unless given."""
        own = cards or (card(f"{name}-0"), card(f"{name}-1"))
        self.store.create(NODES, "", node_object(name, own))

    def add_pod(self, name: str, **limits: str | int) -> Object:
        """Add a pod."""
        return self.store.create(PODS, "team", pod_object(name, **limits))

    def pod(self, name: str) -> Object:
        """Return a pod as it is."""
        return self.store.read(PODS, "team", name)

    def annotations(self, name: str) -> Mapping[str, str]:
        """Return a pod's annotations."""
        annotations: Mapping[str, str] = self.pod(name)["metadata"].get("annotations", {})
        return annotations

    def lock(self, name: str) -> str | None:
        """Return the lock of a node."""
        annotations: Mapping[str, str] = self.store.read(NODES, "", name)["metadata"]["annotations"]
        return annotations.get(LOCK)

    def allocate(self, node: str) -> None:
        """Let the plugin of a node serve the pod that has its lock."""
        lock = self.lock(node)
        assert lock is not None, "nobody is to be served"
        namespace, name = lock.split(",")[1:]
        done = {"metadata": {"annotations": {PHASE: "success"}}, "status": {"phase": "Running"}}
        self.store.merge(PODS, namespace, name, done)
        self.store.merge(NODES, "", node, {"metadata": {"annotations": {LOCK: None}}})

    def events(self, reason: str) -> list[Object]:
        """Return the events of a reason."""
        return [each for each in self.store.listed(EVENTS) if each["reason"] == reason]


class Standing:
    """A process that runs, and calls to it."""

    def __init__(self, process: Process, calls: Listener, pages: Listener, log: Told) -> None:
        self.process = process
        self.calls = calls
        self.pages = pages
        self.log = log

    @property
    def live(self) -> Live:
        """Return what decides in it."""
        return self.process.scheduling.live

    async def post(self, path: str, body: object) -> Any:
        """Post something and return what is answered."""
        data = body if isinstance(body, bytes) else msgspec.json.encode(body)
        extra = "Content-Type: application/json\r\n"
        answer = await call(self.calls, "POST", path, data, extra=extra)
        assert answer.status == 200, answer
        return msgspec.json.decode(answer.body)

    async def get(self, path: str) -> Answer:
        """Look at a page."""
        return await call(self.pages, "GET", path)

    async def filter(self, pod: Object, *names: str) -> Any:
        """Ask for a node by names."""
        return await self.post("/filter", {"Pod": pod, "Nodes": None, "NodeNames": list(names)})

    async def bind(self, pod: Object, node: str) -> str:
        """Bind a pod, and return what went wrong."""
        metadata = pod["metadata"]
        body = {
            "PodName": metadata["name"],
            "PodNamespace": metadata["namespace"],
            "PodUID": metadata["uid"],
            "Node": node,
        }
        error: str = (await self.post("/bind", body))["Error"]
        return error

    async def settled(self) -> None:
        """Wait until nothing is to be done any more."""
        await self.process.performer.idle()


def live_of(settings: LiveSettings | None = None) -> Live:
    """Return a live scheduler that knows nothing yet."""
    chosen = settings or LiveSettings(scheduler_name=SCHEDULER, single_wait_s=5.0)
    return Live(families(None, Policies()), chosen)


@asynccontextmanager
async def running(
    cluster: Cluster,
    *,
    settings: Settings | None = None,
    live: Live | None = None,
    candidacy: Candidacy | None = None,
    certificates: Certificates | None = None,
    waits: bool = True,
) -> AsyncIterator[Standing]:
    """Run an extender while the block is entered, once it is ready unless told not to wait."""
    log = Told()
    process = Process(
        cluster,
        live or live_of(),
        settings=settings or Settings(deadlines=Deadlines(drain_s=1.0)),
        times=Times(MachineClock(), MachineCalendar()),
        log=log,
        candidacy=candidacy,
    )
    calls, pages = listening("127.0.0.1:0"), listening("127.0.0.1:0")
    stop = asyncio.Event()
    endpoints = Endpoints(calls=calls, certificates=certificates, pages=pages)
    task = asyncio.create_task(process.run(endpoints, stop))
    try:
        if waits:
            await process.scheduling.ready.wait()
        yield Standing(process, calls, pages, log)
    finally:
        stop.set()
        await task
    assert not log.of("bug"), log.of("bug")
