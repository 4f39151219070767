"""A controller from a ReplicasConfiguration: its store, its Prometheus and its name, opened and closed together.

For processes that are configured by a file, and for services that embed the library and want the same file.
"""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final

import msgspec
from msgspec.structs import replace

from springtide.base.clock import Calendar, Clock, Rng
from springtide.edge.lines import Log
from springtide.edge.prometheus import Prometheus
from springtide.edge.prometheus.configured import prometheus_access
from springtide.edge.store import Store, Unreachable
from springtide.edge.store.etcd.configured import etcd_store
from springtide.model.replicas.knobs import Mode
from springtide.model.replicas.ordinals import pod_index
from springtide.model.replicas.settings import ReplicaSettings
from springtide.replicas.context import Identity
from springtide.replicas.controller import ReplicaController
from springtide.wire.crd.replica_entries import ReplicasDocument
from springtide.wire.crd.replica_member import KubernetesEntry
from springtide.wire.origin import Origin

STATEFUL_SET: Final = "StatefulSet"
PERMILLES: Final = 1001
AGAIN_S: Final = 5.0
UNNUMBERED: Final = (
    'The name "{name}" ends in no ordinal, so this member is numbered by the order of all. '
    "Give its ordinal with --pod-index, or POD_INDEX."
)


class Here(msgspec.Struct, frozen=True, kw_only=True):
    """What a process is told of its place: by the pod that it runs in, or by whoever starts it."""

    name: str = ""
    namespace: str = ""
    pod_index: str = ""
    ordinals_start: int | None = None
    pod_ip: str = ""
    id: int = 0


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """What tells the time and draws, and where is logged."""

    clock: Clock
    calendar: Calendar
    rng: Rng
    log: Log


def identity(document: ReplicasDocument, here: Here, *, log: Log) -> Identity:
    """Return who this member is; a name without an ordinal is told of and numbered otherwise."""
    name = here.name or socket.gethostname()
    index = None
    if document.workload.kind == STATEFUL_SET:
        index = pod_index(
            name, ordinals_start=here.ordinals_start or 0, pod_index_label=here.pod_index
        )
        if index is None:
            log("no_ordinal", is_fault=True, message=UNNUMBERED.format(name=name))
    return Identity(
        name=name,
        id=here.id,
        index=index,
        service=document.workload.service or document.workload.name,
        address=document.application.address or here.pod_ip,
    )


@asynccontextmanager
async def opened(
    document: ReplicasDocument,
    settings: ReplicaSettings,
    here: Here,
    *,
    machine: Machine,
    origin: Origin,
) -> AsyncIterator[ReplicaController]:
    """Give a controller that has not started yet; raises InvalidDocument, or what a store raises at first."""
    async with AsyncExitStack() as stack:
        store, here = await _store(stack, document, settings, here, machine=machine, origin=origin)
        who = identity(document, here, log=machine.log)
        metrics = None
        if document.prometheus is not None:
            access = prometheus_access(document.prometheus, origin=origin)
            metrics = await stack.enter_async_context(Prometheus(access))
        yield ReplicaController(
            settings,
            who,
            store=store,
            clock=machine.clock,
            calendar=machine.calendar,
            log=machine.log,
            metrics=metrics,
            drawn_permille=lambda: machine.rng.choice_index(PERMILLES),
        )


async def _store(
    stack: AsyncExitStack,
    document: ReplicasDocument,
    settings: ReplicaSettings,
    here: Here,
    *,
    machine: Machine,
    origin: Origin,
) -> tuple[Store, Here]:
    """Return the store, and this place with what only the store could tell of it."""
    entry = document.store
    assert entry is not None, "the document was checked"
    if entry.etcd is not None:
        is_observing = settings.knobs.mode is Mode.OBSERVE
        store = etcd_store(
            entry.etcd, settings.workload, origin=origin, rng=machine.rng, is_observing=is_observing
        )
        return await stack.enter_async_context(store), here
    assert entry.kubernetes is not None, "the document was checked"
    return await _kubernetes(stack, entry.kubernetes, settings, here, machine=machine)


async def _kubernetes(
    stack: AsyncExitStack,
    entry: KubernetesEntry,
    settings: ReplicaSettings,
    here: Here,
    *,
    machine: Machine,
) -> tuple[Store, Here]:
    # Loading the client takes a second: only a store in a cluster needs it.
    from springtide.edge import kube  # noqa: PLC0415
    from springtide.edge.store.kubernetes import (  # noqa: PLC0415
        KubernetesAccess,
        KubernetesStore,
        Pace,
    )

    connection = await kube.connect(kube.Access(kubeconfig=entry.kubeconfig, context=entry.context))
    await stack.enter_async_context(connection)
    access = KubernetesAccess(
        namespace=here.namespace or "default",
        pod=here.name or socket.gethostname(),
        workload=settings.workload.name,
        kind=settings.workload.kind,
        selector=entry.selector,
        ordinals_start=here.ordinals_start,
        port=entry.port,
        is_observing=settings.knobs.mode is Mode.OBSERVE,
    )
    pace = Pace(clock=machine.clock, calendar=machine.calendar, rng=machine.rng)
    waiting = kube.Waiting(clock=machine.clock, rng=machine.rng)
    cluster = kube.KubeCluster(connection, waiting=waiting)
    found = KubernetesStore(cluster, access, pace=pace)
    start = await _until_told(found.ordinals_start, machine)
    return found, replace(here, ordinals_start=start)


async def _until_told(ask: Callable[[], Awaitable[int]], machine: Machine) -> int:
    """Return where ordinals start; a member that does not know it would take the place of another."""
    while True:
        try:
            return await ask()
        except Unreachable as fault:
            machine.log("ordinals_unknown", is_fault=True, why=str(fault))
        await asyncio.sleep(AGAIN_S)
