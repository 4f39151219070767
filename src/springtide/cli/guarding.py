"""What `springtide replicas guard` does: reads its configuration, connects, and serves until told to stop."""

import asyncio
from contextlib import AsyncExitStack

from springtide.apps.adapter import Times
from springtide.apps.guard import Process, Settings, settings
from springtide.cli.endings import UNREACHABLE, USAGE, Ended
from springtide.cli.serving import forwarded, one_document, told_to_stop
from springtide.cli.sockets import opened
from springtide.edge import kube
from springtide.edge.lines import JsonLines
from springtide.edge.machine import MachineCalendar, MachineClock
from springtide.edge.prometheus import Access, Prometheus
from springtide.edge.prometheus.configured import prometheus_access
from springtide.wire.crd.guard import GuardDocument, read_guard
from springtide.wire.errors import InvalidDocument, MalformedObject


def serve(config: str, *, kubeconfig: str, context: str) -> None:
    """Serve until told to stop, or end the command."""
    origin, value = one_document(config)
    try:
        document = read_guard(value, origin=origin)
        chosen = settings(document, origin=origin)
        access = prometheus_access(document.prometheus, origin=origin)
    except InvalidDocument as fault:
        raise Ended(str(fault), USAGE) from fault
    cluster = kube.Access(
        kubeconfig=kubeconfig, context=context, timeout_s=chosen.deadlines.request_s
    )
    asyncio.run(_serve(document, chosen, cluster=cluster, access=access))


async def _serve(
    document: GuardDocument, chosen: Settings, *, cluster: kube.Access, access: Access
) -> None:
    calendar = MachineCalendar()
    lines = JsonLines(calendar)
    with forwarded(lines):
        try:
            async with AsyncExitStack() as stack:
                endpoints = await stack.enter_async_context(
                    opened(
                        document.tls,
                        calls=document.bind_address,
                        pages=document.metrics_bind_address,
                    )
                )
                process = Process(
                    await stack.enter_async_context(await kube.connect(cluster)),
                    await stack.enter_async_context(Prometheus(access)),
                    settings=chosen,
                    times=Times(MachineClock(), calendar),
                    log=lines,
                )
                await process.run(endpoints, told_to_stop())
        except (kube.Unusable, MalformedObject) as fault:
            raise Ended(str(fault), USAGE) from fault
        except kube.ClusterFault as fault:
            raise Ended(str(fault), UNREACHABLE) from fault
