"""Stores of one workload over an API server in this process, in virtual time, for what its contract leaves open."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from msgspec.structs import replace

from springtide.edge.kube import KubeCluster, Waiting
from springtide.edge.machine import MachineCalendar, SeededRng
from springtide.edge.store import StoreTold
from springtide.edge.store.kubernetes import KubernetesAccess, KubernetesStore, Pace
from tests.kubeapi import Asked, Direct, KubeApi, Reply, status
from tests.objectstore import Object, ObjectStore, Refused
from tests.virtual import LoopClock, run

T = TypeVar("T", bound=StoreTold)

NAMESPACE = "t"
PODS = ("", "pods")
CONFIG_MAPS = ("", "configmaps")
LEASES = ("coordination.k8s.io", "leases")
STATUS = "chat-hpa-status"
LEADER = "chat-hpa-leader"
ACCESS = KubernetesAccess(
    namespace=NAMESPACE, pod="chat-0", workload="chat", selector="app=chat", ordinals_start=0
)


class Place:
    """A namespace with the pods of a workload."""

    def __init__(self) -> None:
        self.objects = ObjectStore()
        self.api = KubeApi(self.objects)

    def store(self, pod: str = "chat-0", **said: Any) -> KubernetesStore:
        """Return the store of the process in a pod, which is made if it is not there."""
        if (NAMESPACE, pod) not in self.objects.objects[PODS]:
            self.pod(pod)
        clock = LoopClock()
        return KubernetesStore(
            KubeCluster(Direct(self.api), waiting=Waiting(clock=clock, rng=SeededRng(1))),
            replace(ACCESS, pod=pod, **said),
            pace=Pace(clock=clock, calendar=MachineCalendar(), rng=SeededRng(1)),
        )

    def pod(self, name: str, **said: Any) -> None:
        """Make a pod that runs."""
        made = {
            "metadata": {"name": name, "labels": {"app": "chat"}, **said},
            "status": {"phase": "Running"},
        }
        self.objects.create(PODS, NAMESPACE, made)

    def read_pod(self, name: str = "chat-0") -> Object:
        """Return a pod."""
        return self.objects.read(PODS, NAMESPACE, name)

    def change_pod(self, patch: Object, name: str = "chat-0") -> None:
        """Change a pod, as somebody else."""
        self.objects.merge(PODS, NAMESPACE, name, patch)

    def lease(self) -> Object:
        """Return what the Lease says."""
        spec: Object = self.objects.read(LEASES, NAMESPACE, LEADER)["spec"]
        return spec

    def drop_lease(self) -> None:
        """Delete the Lease, as an operator might."""
        self.objects.delete(LEASES, NAMESPACE, LEADER, {})

    def texts(self) -> dict[str, str]:
        """Return the texts beside the status."""
        found: dict[str, str] = self.objects.read(CONFIG_MAPS, NAMESPACE, STATUS)["data"]
        return found

    def refuse(self, path: str, code: int, *, times: int) -> None:
        """Answer so the next times that something under this path is asked for."""
        reasons = {403: "Forbidden", 409: "Conflict", 500: "InternalError"}
        reply: Reply = status(Refused(code, reasons[code], "refused as ordered"))
        self.api.scripted += [(path, reply)] * times

    def hang(self, path: str, *, times: int) -> None:
        """Answer nothing the next times that something under this path is asked for."""
        self.api.scripted += [(path, Reply(hangs=True))] * times

    def writes(self) -> list[Asked]:
        """Return what was asked for that changes something."""
        return [each for each in self.api.asked if each.method != "GET"]


class Told:
    """What a follower was told."""

    def __init__(self) -> None:
        self.all: list[StoreTold] = []

    def of(self, kind: type[T], *, since: int = 0) -> list[T]:
        """Return all of a kind."""
        return [each for each in self.all[since:] if isinstance(each, kind)]

    @property
    def mark(self) -> int:
        """How much was told so far."""
        return len(self.all)


@asynccontextmanager
async def followed(store: KubernetesStore, *, settle_s: float = 1.0) -> AsyncIterator[Told]:
    """Follow a store as long as the block, which begins when it has settled."""
    told = Told()
    task = asyncio.create_task(store.follow(told.all.append))
    try:
        await asyncio.sleep(settle_s)
        yield told
    finally:
        assert not task.done(), f"it ended by itself: {task}"
        task.cancel()
        await asyncio.wait([task])


def played(scene: Callable[[Place], Coroutine[Any, Any, None]]) -> None:
    """Play a scene in virtual time."""

    async def whole() -> None:
        await scene(Place())

    run(whole())
