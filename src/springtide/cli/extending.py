"""What `springtide extender` does: reads its configuration, connects, and serves until told to stop."""

import asyncio
import gc
import logging
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import ExitStack, asynccontextmanager
from typing import Any, Final, NamedTuple, TypeVar

import msgspec

from springtide.apps.extender import Candidacy, Endpoints, Process, Settings, Times, setup
from springtide.cli import simulating
from springtide.cli.endings import UNREACHABLE, USAGE, Ended
from springtide.edge import files, kube
from springtide.edge.lines import Forwarding, JsonLines
from springtide.edge.machine import (
    MachineCalendar,
    MachineClock,
    SeededRng,
    allow_open_files,
    noise,
    secret,
    utc_offset_s,
)
from springtide.edge.serving import CertificateFiles, Certificates, listening
from springtide.engine.live import Live
from springtide.wire import yaml
from springtide.wire.crd.extender import ExtenderDocument, TlsEntry, durations, read_extender
from springtide.wire.errors import InvalidDocument
from springtide.wire.origin import Origin

PartT = TypeVar("PartT", bound=msgspec.Struct)

COMMAND_LINE: Final = "the command line"
OPEN_FILES: Final = 4096
"""Room for the callers of two listeners, and for requests to the API server."""
_FIELDS: Final = {
    "http_bind": "bind_address",
    "metrics_bind_address": "metrics_bind_address",
    "scheduler_name": "scheduler_name",
    "node_scheduler_policy": "node_scheduler_policy",
    "gpu_scheduler_policy": "gpu_scheduler_policy",
    "node_lock_timeout": "node_lock_timeout",
    "node_lock_retry_timeout": "node_lock_retry_timeout",
    "force_overwrite_default_scheduler": "force_overwrite_default_scheduler",
    "device_config_file": "device_config_file",
}
"""The options that are a field of the document by another name at most."""


class Plan(NamedTuple):
    """Everything that is needed to serve."""

    live: Live
    settings: Settings
    candidacy: Candidacy | None
    access: kube.Access


def serve(path: str, options: Mapping[str, Any], *, verbosity: int) -> None:
    """Serve until told to stop, or end the command."""
    del verbosity  # Every decision is told in any case.
    origin, document = _document(path, options)
    if document.simulation is not None:
        # It is checked also where another process serves it.
        config = _device_config(document, origin)
        plan = simulating.planned(document, origin=origin, config=config, options=options)
        if options.get("simulation_only"):
            simulating.serve(plan, parent=options.get("simulation_parent"))
            return
    asyncio.run(_serve(document, _planned(document, origin, options), options))


async def _serve(document: ExtenderDocument, plan: Plan, options: Mapping[str, Any]) -> None:
    allow_open_files(OPEN_FILES)
    calendar = MachineCalendar()
    lines = JsonLines(calendar)
    logging.getLogger().addHandler(Forwarding(lines))
    clock = MachineClock()
    waiting = kube.Waiting(clock=clock, rng=SeededRng(noise()), pause=asyncio.sleep)
    try:
        async with (
            _opened(document) as endpoints,
            await kube.connect(plan.access) as connection,
            simulating.beside(document, options, lines),
        ):
            process = Process(
                kube.KubeCluster(connection, waiting=waiting),
                plan.live,
                settings=plan.settings,
                times=Times(clock, calendar),
                log=lines,
                candidacy=plan.candidacy,
            )
            settling = asyncio.create_task(_settle(process))
            await process.run(endpoints, _told_to_stop())
            settling.cancel()
    except kube.Unusable as fault:
        raise Ended(str(fault), USAGE) from fault
    except kube.ClusterFault as fault:
        raise Ended(str(fault), UNREACHABLE) from fault


async def _settle(process: Process) -> None:
    """Leave what the cluster was at first out of all later collections of garbage: they take its size."""
    await process.scheduling.ready.wait()
    gc.collect()
    gc.freeze()


def _told_to_stop() -> asyncio.Event:
    """Return what is set when this process is asked to end."""
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    return stop


# ---------------------------------------------------------------------------- configuration


def _document(config: str, options: Mapping[str, Any]) -> tuple[Origin, ExtenderDocument]:
    """Return what the file says, with what the options say in its place."""
    origin, document = (
        _file(config) if config else (Origin(source=COMMAND_LINE), ExtenderDocument())
    )
    said = {field: options[name] for name, field in _FIELDS.items() if name in options}
    if "node_label_selector" in options:
        said["node_selector"] = _labels(options["node_label_selector"])
    if options.get("kube_timeout", "0") != "0":
        timeout = str(options["kube_timeout"])
        said["request_timeout"] = f"{timeout}s" if timeout.isdecimal() else timeout
    if "device_config_file" in said:
        said["device_config"] = None
    # Faults of options are told as theirs, not as those of the file.
    durations(
        msgspec.structs.replace(ExtenderDocument(), **said), origin=Origin(source=COMMAND_LINE)
    )
    merged = msgspec.structs.replace(
        document,
        **said,
        tls=_tls(document.tls, options),
        simulation=simulating.section(
            document.simulation, options, is_alone=bool(options.get("simulation_only"))
        ),
        leader_election=_replaced(
            document.leader_election,
            options,
            {
                "leader_elect": "enabled",
                "leader_elect_resource_name": "name",
                "leader_elect_resource_namespace": "namespace",
            },
        ),
    )
    return origin, merged


def _file(config: str) -> tuple[Origin, ExtenderDocument]:
    source = files.read((config,), sys.stdin.buffer)[0]
    found = yaml.documents(source.data, source.name)
    if len(found) != 1:
        raise Ended(f"{config} holds {len(found)} documents; write exactly one.", USAGE)
    origin = Origin(source=source.name, document=found[0])
    return origin, read_extender(found[0].value, origin=origin)


def _tls(tls: TlsEntry, options: Mapping[str, Any]) -> TlsEntry:
    names = {"cert_file": "cert_file", "key_file": "key_file", "client_ca_file": "client_ca_file"}
    return _replaced(tls, options, names)


def _replaced(part: PartT, options: Mapping[str, Any], names: Mapping[str, str]) -> PartT:
    said = {field: options[name] for name, field in names.items() if name in options}
    return msgspec.structs.replace(part, **said)


def _labels(text: str) -> dict[str, str]:
    labels = {}
    for pair in filter(None, (each.strip() for each in text.split(","))):
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise Ended(f'--node-label-selector: "{pair}" is no label; write it as k=v.', USAGE)
        labels[key] = value
    return labels


def _planned(document: ExtenderDocument, origin: Origin, options: Mapping[str, Any]) -> Plan:
    whereabouts = setup.Whereabouts(
        pod_name=os.environ.get("POD_NAME", ""),
        pod_namespace=os.environ.get("POD_NAMESPACE", ""),
        host=socket.gethostname(),
        run=secret(8).hex(),
        utc_offset_s=utc_offset_s(),
    )
    config, config_source = _device_config(document, origin)
    try:
        settings = setup.settings(document, config, origin=origin, whereabouts=whereabouts)
        live = setup.live(
            document,
            config,
            origin=origin,
            config_source=config_source,
            whereabouts=whereabouts,
        )
        candidacy = setup.candidacy(document, origin=origin, whereabouts=whereabouts)
    except (InvalidDocument, setup.InvalidSetup) as fault:
        raise Ended(str(fault), USAGE) from fault
    access = kube.Access(
        kubeconfig=options.get("kubeconfig", ""),
        context=options.get("context", ""),
        timeout_s=settings.deadlines.request_s,
    )
    return Plan(live, settings, candidacy, access)


def _device_config(
    document: ExtenderDocument, origin: Origin
) -> tuple[Mapping[str, object] | None, str]:
    path = document.device_config_file
    if not path:
        return document.device_config, f"{origin.label}: deviceConfig"
    source = files.read((path,), sys.stdin.buffer)[0]
    return setup.device_config(source.data, source.name), source.name


@asynccontextmanager
async def _opened(document: ExtenderDocument) -> AsyncIterator[Endpoints]:
    """Open the sockets while the block is entered."""
    certificates = _certificates(document.tls)
    with ExitStack() as stack:
        calls = listening(document.bind_address)
        stack.callback(calls.socket.close)
        pages = None
        if document.metrics_bind_address:
            pages = listening(document.metrics_bind_address)
            stack.callback(pages.socket.close)
        yield Endpoints(calls=calls, certificates=certificates, pages=pages)


def _certificates(tls: TlsEntry) -> Certificates | None:
    if tls.cert_file and tls.key_file:
        found = CertificateFiles(
            certificate=tls.cert_file, key=tls.key_file, client_authorities=tls.client_ca_file
        )
        return Certificates(found)
    if tls.client_ca_file:
        raise Ended(
            "clientCAFile needs TLS; give --cert_file and --key_file as well, or leave it out.",
            USAGE,
        )
    return None
