"""What `springtide replicas adapter` does: reads its configuration, connects, and serves until told to stop."""

import asyncio
import logging
import signal
import ssl
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from typing import Final

from springtide.apps.adapter import Endpoints, Process, Settings, Times
from springtide.apps.adapter.settings import settings
from springtide.apps.adapter.upstream import Other, Upstream
from springtide.cli.endings import UNREACHABLE, USAGE, Ended
from springtide.edge import files, http, kube
from springtide.edge.lines import Forwarding, JsonLines
from springtide.edge.machine import MachineCalendar, MachineClock, allow_open_files
from springtide.edge.prometheus import Access, Prometheus
from springtide.edge.serving import CertificateFiles, Certificates, listening
from springtide.model.scheduler import ExtenderTLSConfig
from springtide.wire import yaml
from springtide.wire.crd.adapter import (
    AdapterDocument,
    ClientTlsEntry,
    PrometheusEntry,
    UpstreamEntry,
    read_adapter,
    seconds,
)
from springtide.wire.errors import InvalidDocument, MalformedObject
from springtide.wire.origin import Origin

OPEN_FILES: Final = 4096


def serve(config: str, *, kubeconfig: str, context: str) -> None:
    """Serve until told to stop, or end the command."""
    origin, document = _document(config)
    try:
        chosen = settings(document, origin=origin)
        access = _prometheus(document.prometheus, origin)
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
    with _forwarded(lines):
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
                await process.run(endpoints, _told_to_stop())
        except (kube.Unusable, MalformedObject) as fault:
            raise Ended(str(fault), USAGE) from fault
        except kube.ClusterFault as fault:
            raise Ended(str(fault), UNREACHABLE) from fault


@contextmanager
def _forwarded(lines: JsonLines) -> Iterator[None]:
    """Write what libraries log as lines of ours meanwhile."""
    handler = Forwarding(lines)
    logging.getLogger().addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(handler)


def _told_to_stop() -> asyncio.Event:
    """Return what is set when this process is asked to end."""
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    return stop


def _document(config: str) -> tuple[Origin, AdapterDocument]:
    source = files.read((config,), sys.stdin.buffer)[0]
    found = yaml.documents(source.data, source.name)
    if len(found) != 1:
        raise Ended(f"{config} holds {len(found)} documents; write exactly one.", USAGE)
    origin = Origin(source=source.name, document=found[0])
    return origin, read_adapter(found[0].value, origin=origin)


def _prometheus(entry: PrometheusEntry, origin: Origin) -> Access:
    return Access(
        url=entry.url,
        timeout_s=seconds(entry.timeout, ("prometheus", "timeout"), origin=origin),
        token_file=entry.token_file,
        headers=entry.headers,
        tls=_tls(entry.url, entry.tls, "prometheus", origin),
        queries_max=entry.queries,
    )


def _other(entry: UpstreamEntry, origin: Origin) -> Other:
    return Other(
        url=entry.url,
        timeout_s=seconds(entry.timeout, ("upstream", "timeout"), origin=origin),
        token_file=entry.token_file,
        tls=_tls(entry.url, entry.tls, "upstream", origin),
    )


def _tls(url: str, entry: ClientTlsEntry, part: str, origin: Origin) -> ssl.SSLContext | None:
    if not url.startswith("https"):
        return None
    chosen = ExtenderTLSConfig(
        ca_file=entry.ca_file,
        cert_file=entry.cert_file,
        key_file=entry.key_file,
        server_name=entry.server_name,
    )
    try:
        return http.client_context(chosen)
    except http.Unusable as fault:
        raise origin.fault((part, "tls", fault.field), fault.why) from fault


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
