"""What `springtide replicas adapter` does: reads its configuration, connects, and serves until told to stop."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from typing import Final

from springtide.apps.adapter import Endpoints, Process, Settings, Times
from springtide.apps.adapter.settings import settings
from springtide.apps.adapter.upstream import Other, Upstream
from springtide.cli.endings import UNREACHABLE, USAGE, Ended
from springtide.cli.serving import (
    document_of,
    forwarded,
    prometheus_access,
    tls_context,
    told_to_stop,
)
from springtide.edge import kube
from springtide.edge.lines import JsonLines
from springtide.edge.machine import MachineCalendar, MachineClock, allow_open_files
from springtide.edge.prometheus import Access, Prometheus
from springtide.edge.serving import CertificateFiles, Certificates, listening
from springtide.wire.crd.adapter import AdapterDocument, UpstreamEntry, read_adapter, seconds
from springtide.wire.errors import InvalidDocument, MalformedObject
from springtide.wire.origin import Origin

OPEN_FILES: Final = 4096


def serve(config: str, *, kubeconfig: str, context: str) -> None:
    """Serve until told to stop, or end the command."""
    origin, value = document_of(config)
    try:
        document = read_adapter(value, origin=origin)
        chosen = settings(document, origin=origin)
        access = prometheus_access(document.prometheus, ("prometheus",), origin)
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
                endpoints = await stack.enter_async_context(_opened(document))
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


def _other(entry: UpstreamEntry, origin: Origin) -> Other:
    return Other(
        url=entry.url,
        timeout_s=seconds(entry.timeout, ("upstream", "timeout"), origin=origin),
        token_file=entry.token_file,
        tls=tls_context(entry.url, entry.tls, ("upstream", "tls"), origin),
    )


@asynccontextmanager
async def _opened(document: AdapterDocument) -> AsyncIterator[Endpoints]:
    """Open the sockets while the block is entered."""
    found = CertificateFiles(certificate=document.tls.cert_file, key=document.tls.key_file)
    certificates = Certificates(found)
    with ExitStack() as stack:
        calls = listening(document.bind_address)
        stack.callback(calls.socket.close)
        pages = None
        if document.metrics_bind_address:
            pages = listening(document.metrics_bind_address)
            stack.callback(pages.socket.close)
        yield Endpoints(calls=calls, certificates=certificates, pages=pages)
