"""What `springtide replicas adapter` does: reads its configuration, connects, and serves until told to stop."""

import asyncio
from contextlib import AsyncExitStack
from typing import Final

from springtide.apps.adapter import Process, Settings, Times
from springtide.apps.adapter.settings import settings
from springtide.apps.adapter.upstream import Other, Upstream
from springtide.cli.endings import UNREACHABLE, USAGE, Ended
from springtide.cli.serving import forwarded, one_document, told_to_stop
from springtide.cli.sockets import opened
from springtide.edge import kube
from springtide.edge.http.configured import client_tls
from springtide.edge.lines import JsonLines
from springtide.edge.machine import MachineCalendar, MachineClock, allow_open_files
from springtide.edge.prometheus import Access, Prometheus
from springtide.edge.prometheus.configured import prometheus_access
from springtide.wire.crd.adapter import AdapterDocument, UpstreamEntry, read_adapter, seconds
from springtide.wire.errors import InvalidDocument, MalformedObject
from springtide.wire.origin import Origin

OPEN_FILES: Final = 4096


def serve(config: str, *, kubeconfig: str, context: str) -> None:
    """Serve until told to stop, or end the command."""
    origin, document = _document(config)
    try:
        chosen = settings(document, origin=origin)
        access = prometheus_access(document.prometheus, origin=origin)
        other = None if document.upstream is None else _other(document.upstream, origin)
    except InvalidDocument as fault:
        raise Ended(str(fault), USAGE) from fault
    cluster = kube.Access(
        kubeconfig=kubeconfig, context=context, timeout_s=chosen.deadlines.request_s
    )
    asyncio.run(_serve(document, chosen, cluster=cluster, access=access, other=other))


async def _serve(
    document: AdapterDocument,
    chosen: Settings,
    *,
    cluster: kube.Access,
    access: Access,
    other: Other | None,
) -> None:
    allow_open_files(OPEN_FILES)
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
                connection = await stack.enter_async_context(await kube.connect(cluster))
                upstream = None
                if other is not None:
                    upstream = await stack.enter_async_context(Upstream(other))
                process = Process(
                    connection,
                    await stack.enter_async_context(Prometheus(access)),
                    settings=chosen,
                    times=Times(MachineClock(), calendar),
                    log=lines,
                    upstream=upstream,
                )
                await process.run(endpoints, told_to_stop())
        except (kube.Unusable, MalformedObject) as fault:
            raise Ended(str(fault), USAGE) from fault
        except kube.ClusterFault as fault:
            raise Ended(str(fault), UNREACHABLE) from fault


def _document(config: str) -> tuple[Origin, AdapterDocument]:
    origin, value = one_document(config)
    return origin, read_adapter(value, origin=origin)


def _other(entry: UpstreamEntry, origin: Origin) -> Other:
    return Other(
        url=entry.url,
        timeout_s=seconds(entry.timeout, ("upstream", "timeout"), origin=origin),
        token_file=entry.token_file,
        tls=client_tls(entry.url, entry.tls, ("upstream", "tls"), origin=origin),
    )
