"""What `springtide replicas execute` does: reads its configuration, and executes until told to stop."""

import asyncio
import signal
from contextlib import AsyncExitStack
from pathlib import Path
from typing import assert_never

from springtide.apps.executor.applied import Applied, Unremembered
from springtide.apps.executor.process import Process, Settings
from springtide.apps.executor.prometheus import PrometheusWishes
from springtide.apps.executor.settings import settings, sought
from springtide.apps.executor.store import StoreWishes
from springtide.apps.executor.wishes import Wishes
from springtide.cli.endings import UNREACHABLE, USAGE, Ended
from springtide.cli.serving import (
    forwarded,
    one_document,
    told_to_stop,
)
from springtide.edge import kube
from springtide.edge.executors import (
    Called,
    Commands,
    Executor,
    Held,
    Hook,
    KubeScale,
    Place,
    Pool,
    Processes,
    Systemd,
    Units,
    Webhook,
    hold,
)
from springtide.edge.http.configured import client_tls
from springtide.edge.lines import JsonLines
from springtide.edge.machine import MachineCalendar, MachineClock, SeededRng, noise
from springtide.edge.prometheus import Prometheus
from springtide.edge.prometheus.configured import prometheus_access
from springtide.edge.serving import CannotListen, listening
from springtide.edge.store.etcd.configured import etcd_store
from springtide.model.replicas.workload import Workload
from springtide.wire.crd.adapter import seconds
from springtide.wire.crd.executor import (
    ExecutorDocument,
    KubeScaleEntry,
    ProcessEntry,
    WebhookEntry,
    read_executor,
)
from springtide.wire.errors import InvalidDocument, MalformedObject
from springtide.wire.origin import Origin

SOURCE = ("source", "prometheus")
Chosen = Pool | Units | Called | Hook | KubeScaleEntry


def serve(config: str) -> None:
    """Execute until told to stop, or end the command."""
    origin, value = one_document(config)
    try:
        document = read_executor(value, origin=origin)
        found = settings(document, origin=origin)
        chosen = _chosen(document, found, origin)
        asyncio.run(_serve(document, origin, found, chosen))
    except InvalidDocument as fault:
        raise Ended(str(fault), USAGE) from fault
    except (Held, Unremembered, CannotListen) as fault:
        raise Ended(str(fault), USAGE) from fault


async def _serve(
    document: ExecutorDocument, origin: Origin, found: Settings, chosen: Chosen
) -> None:
    calendar, clock = MachineCalendar(), MachineClock()
    lines, folder = JsonLines(calendar), Path(document.state_directory)
    with forwarded(lines), hold(folder):
        pages = listening(document.bind_address)
        try:
            async with AsyncExitStack() as stack:
                stack.callback(pages.socket.close)
                wishes = await _wishes(document, stack, origin, clock=clock, calendar=calendar)
                process = Process(
                    await _executor(chosen, stack, found),
                    wishes,
                    settings=found,
                    applied=Applied(folder),
                    clock=clock,
                    log=lines,
                )
                await process.run(pages, told_to_stop())
        except (kube.Unusable, MalformedObject) as fault:
            raise Ended(str(fault), USAGE) from fault
        except kube.ClusterFault as fault:
            raise Ended(str(fault), UNREACHABLE) from fault


async def _wishes(
    document: ExecutorDocument,
    stack: AsyncExitStack,
    origin: Origin,
    *,
    clock: MachineClock,
    calendar: MachineCalendar,
) -> Wishes:
    source = document.source
    if source.prometheus is not None:
        access = prometheus_access(source.prometheus, origin=origin, path=SOURCE)
        prometheus = await stack.enter_async_context(Prometheus(access))
        wanted = sought(document, source.prometheus, origin=origin)
        return PrometheusWishes(prometheus, wanted, clock=clock, calendar=calendar)
    assert source.etcd is not None, "the document was checked"
    path = ("source", "etcd")
    workload = Workload(
        name=document.workload,
        kind=source.etcd.kind,
        api_version=source.etcd.api_version,
        environment=source.etcd.environment,
    )
    store = etcd_store(source.etcd, workload, origin=origin, rng=SeededRng(noise()), path=path)
    wishes = StoreWishes(
        await stack.enter_async_context(store),
        document.workload,
        clock=clock,
        calendar=calendar,
        age_s_max=seconds(source.etcd.max_age, (*path, "maxAge"), origin=origin),
    )
    following = asyncio.create_task(wishes.follow())
    stack.callback(following.cancel)
    return wishes


async def _executor(chosen: Chosen, stack: AsyncExitStack, found: Settings) -> Executor:
    match chosen:
        case Pool():
            return Processes(chosen)
        case Units():
            return Systemd(chosen)
        case Called():
            return Commands(chosen)
        case Hook():
            return await stack.enter_async_context(Webhook(chosen))
        case KubeScaleEntry():
            access = kube.Access(
                kubeconfig=chosen.kubeconfig, context=chosen.context, timeout_s=found.timeout_s
            )
            connection = await stack.enter_async_context(await kube.connect(access))
            return KubeScale(connection, Place(namespace=chosen.namespace, name=chosen.name))
        case _:
            assert_never(chosen)


def _chosen(document: ExecutorDocument, found: Settings, origin: Origin) -> Chosen:
    """Return the one executor that is configured."""
    given, timeout_s = document.executor, found.timeout_s
    if given.process is not None:
        folder = Path(document.state_directory) / "members"
        return _pool(given.process, folder, timeout_s)
    if given.systemd is not None:
        unit = given.systemd
        return Units(template=unit.template, is_of_user=unit.user, timeout_s=timeout_s)
    if given.exec is not None:
        return Called(
            workload=document.workload,
            command=given.exec.command,
            observe=given.exec.observe,
            timeout_s=timeout_s,
        )
    if given.webhook is not None:
        return _hook(given.webhook, document.workload, timeout_s, origin)
    assert given.k8s_scale is not None
    return given.k8s_scale


def _pool(entry: ProcessEntry, folder: Path, timeout_s: float) -> Pool:
    return Pool(
        command=entry.command,
        folder=folder,
        environ=entry.environment,
        directory=entry.directory,
        log=entry.log,
        stop_signal=signal.Signals[entry.stop_signal],
        timeout_s=timeout_s,
    )


def _hook(entry: WebhookEntry, workload: str, timeout_s: float, origin: Origin) -> Hook:
    path = ("executor", "webhook", "tls")
    urls = (entry.url, entry.observe_url)
    url = next((each for each in urls if each.startswith("https")), entry.url)
    return Hook(
        workload=workload,
        url=entry.url,
        observe_url=entry.observe_url,
        timeout_s=timeout_s,
        token_file=entry.token_file,
        headers=entry.headers,
        tls=client_tls(url, entry.tls, path, origin=origin),
    )
