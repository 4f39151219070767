"""What `springtide replicas run` does: reads its configuration, joins the store, and serves until it is drained."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from typing import Final, Never

import msgspec
from prometheus_client import CollectorRegistry

from springtide.apps.replicas import Application, Endpoints, Process, Surface
from springtide.cli.endings import DENIED, UNREACHABLE, USAGE, Ended
from springtide.cli.serving import forwarded, one_document
from springtide.edge import files, http, store
from springtide.edge.cluster import ClusterFault
from springtide.edge.cluster.errors import Unusable
from springtide.edge.http import Calling
from springtide.edge.lines import JsonLines
from springtide.edge.machine import MachineCalendar, MachineClock, SeededRng, noise
from springtide.edge.serving import CannotListen, listening
from springtide.model.replicas.settings import ReplicaSettings
from springtide.replicas import ReplicaController
from springtide.replicas.opening import Here, Machine, opened
from springtide.replicas.registering import registry
from springtide.wire.crd.replica_entries import ReplicasDocument
from springtide.wire.crd.replica_lint import lint
from springtide.wire.crd.replica_member import check_member
from springtide.wire.crd.replica_times import whole_ms
from springtide.wire.crd.replicas import read_document, read_replicas
from springtide.wire.errors import DocumentFault, InvalidDocument
from springtide.wire.origin import Origin

HELD: Final = 1
"""The exit code of a member that ended while it still held something."""
RELOAD_S: Final = 5.0


class Configured(msgspec.Struct, frozen=True, kw_only=True):
    """A configuration as it was read."""

    origin: Origin
    value: object
    document: ReplicasDocument
    settings: ReplicaSettings


def run(config: str, here: Here) -> None:
    """Run one member until it is told to stop and drained, or end the command."""
    try:
        found = configured(config)
    except InvalidDocument as fault:
        raise Ended(str(fault), USAGE) from fault
    try:
        was_drained = asyncio.run(_run(config, found, here))
    except (InvalidDocument, CannotListen, Unusable, http.Unusable) as fault:
        raise Ended(str(fault), USAGE) from fault
    except store.Denied as fault:
        raise Ended(str(fault), DENIED) from fault
    except (ClusterFault, store.StoreFault) as fault:
        raise Ended(str(fault), UNREACHABLE) from fault
    if not was_drained:
        raise Ended("This member ended while it still held something.", HELD)


def configured(config: str) -> Configured:
    """Return what a file says, or raise InvalidDocument; standard input where the file is `-`."""
    origin, value = one_document(config)
    document = read_document(value, origin=origin)
    settings = read_replicas(value, origin=origin)
    check_member(document, origin)
    return Configured(origin=origin, value=value, document=document, settings=settings)


async def _run(config: str, found: Configured, here: Here) -> bool:
    lines = JsonLines(MachineCalendar())
    machine = Machine(
        clock=MachineClock(), calendar=MachineCalendar(), rng=SeededRng(noise()), log=lines
    )
    for each in lint(found.document, origin=found.origin):
        lines("configuration", is_fault=True, field=each.field, message=each.words)
    document, origin = found.document, found.origin
    entry = document.application
    timeout_s = whole_ms(entry.timeout, origin, ("application", "timeout")) / 1000
    with forwarded(lines):
        async with AsyncExitStack() as stack:
            endpoints = await stack.enter_async_context(_opened(document))
            calling = Calling(timeout_s=timeout_s, token_file=entry.token_file)
            application = Application(entry, await stack.enter_async_context(calling), log=lines)
            controller = await stack.enter_async_context(
                opened(document, found.settings, here, machine=machine, origin=origin)
            )
            application.join(controller, timeout_s=timeout_s)
            surface = _surface(controller, found, machine)
            process = Process(
                controller, application, surface, grace_s=_grace_s(document, origin), log=lines
            )
            reloading = asyncio.create_task(_reload(config, found, controller, surface, lines))
            try:
                return await process.run(endpoints)
            finally:
                reloading.cancel()


async def _reload(
    config: str, found: Configured, controller: ReplicaController, surface: Surface, log: JsonLines
) -> Never:
    """Take over what changes in the file, as mounted ConfigMaps do; a file that is wrong changes nothing."""
    before, told = found.value, ""
    while True:
        await asyncio.sleep(RELOAD_S)
        try:
            again = configured(config)
            if again.value == before:
                continue
            await controller.reload(again.settings)
        except (DocumentFault, files.FileFault, Ended, ValueError) as fault:
            if str(fault) != told:
                told = str(fault)
                log("configuration_not_taken", is_fault=True, message=told)
        else:
            before, told = again.value, ""
            surface.configuration = again.value
            surface.registry = _registry(controller, again.settings)


def _surface(controller: ReplicaController, found: Configured, machine: Machine) -> Surface:
    entry = found.document.process
    return Surface(
        controller,
        found.value,
        registry=_registry(controller, found.settings),
        token_file=entry.token_file,
        prestop_on_metrics=entry.prestop_on_metrics,
        log=machine.log,
    )


def _registry(controller: ReplicaController, settings: ReplicaSettings) -> CollectorRegistry:
    """Return what this member knows; of the application's load a process beside it knows nothing."""
    return registry(
        settings,
        controller.identity,
        snapshot=controller.snapshot,
        observers=None,
        calendar=MachineCalendar(),
    )


def _grace_s(document: ReplicasDocument, origin: Origin) -> float | None:
    text = document.controller.stop_grace
    return whole_ms(text, origin, ("controller", "stopGrace")) / 1000 if text else None


@asynccontextmanager
async def _opened(document: ReplicasDocument) -> AsyncIterator[Endpoints]:
    """Open the sockets while the block is entered."""
    entry = document.process
    with ExitStack() as stack:
        calls = listening(entry.bind_address)
        stack.callback(calls.socket.close)
        pages = None
        if entry.metrics_bind_address:
            pages = listening(entry.metrics_bind_address)
            stack.callback(pages.socket.close)
        yield Endpoints(calls=calls, pages=pages)
