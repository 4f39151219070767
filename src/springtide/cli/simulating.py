"""What `springtide extender` does for simulations: alone with --simulation-only, else in a process beside it.

Beside a live scheduler they run in a process of their own: a question about thousands of nodes would else
keep live calls waiting. That process gets the configuration on its standard input, gives way where there are
too few cores, and ends when the one that started it is gone.
"""

import asyncio
import logging
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any, Final, NamedTuple

import msgspec
from msgspec.structs import replace

from springtide.apps import simulation
from springtide.apps.extender import setup
from springtide.apps.simulation.service import MakeRules
from springtide.cli.endings import UNREACHABLE, USAGE, Ended
from springtide.edge import children, files, kube
from springtide.edge.lines import Forwarding, JsonLines, Log
from springtide.edge.machine import (
    MachineCalendar,
    MachineClock,
    SeededRng,
    allow_open_files,
    noise,
    secret,
)
from springtide.edge.serving import CertificateFiles, Certificates, Listener, listening
from springtide.engine.placement.configured import InvalidConfig
from springtide.model.profile import DeviceProfile
from springtide.wire import documents
from springtide.wire.crd.extender import ExtenderDocument, durations
from springtide.wire.crd.simulation import SimulationEntry, SimulationTls, check_simulation
from springtide.wire.errors import DocumentFault, InvalidDocument
from springtide.wire.origin import Origin

NAME_BYTES: Final = 16
OPEN_FILES: Final = 4096
"""Room for every connection of both listeners, and for what else is open."""
PARENT_CHECK_S: Final = 1.0
NICENESS: Final = 10
"""How much a simulation beside a live scheduler gives way to it."""

_TLS: Final = {
    "simulation_cert_file": "cert_file",
    "simulation_key_file": "key_file",
    "simulation_client_ca_file": "client_ca_file",
}
_FIELDS: Final = {
    "simulation_bind_address": "bind_address",
    "simulation_identity": "identities",
    "profile_file": "profile_files",
}
DeviceConfig = Mapping[str, object] | None


class Plan(NamedTuple):
    """Everything that is needed to serve."""

    entry: SimulationEntry
    settings: simulation.Settings
    make: MakeRules
    profiles: tuple[DeviceProfile, ...]
    certificates: Certificates
    access: kube.Access | None


def section(
    entry: SimulationEntry | None, options: Mapping[str, Any], *, is_alone: bool
) -> SimulationEntry | None:
    """Return the section with what the options say in its place; None if nothing asks for it."""
    tls = {field: options[name] for name, field in _TLS.items() if name in options}
    said = {field: options[name] for name, field in _FIELDS.items() if name in options}
    if entry is None and not (tls or said or is_alone):
        return None
    entry = entry or SimulationEntry()
    return replace(entry, **said, tls=replace(entry.tls, **tls))


def planned(
    document: ExtenderDocument,
    *,
    origin: Origin,
    config: tuple[DeviceConfig, str],
    options: Mapping[str, Any],
) -> Plan:
    """Return what is needed to simulate, or end the command."""
    entry = document.simulation
    assert entry is not None
    try:
        check_simulation(entry, origin=origin)
        times = durations(document, origin=origin)
        # Who started this process has waited by then until it is known that both end.
        leave_s = 0.0 if "simulation_parent" in options else times.leave_s
        settings = simulation.settings(entry, origin=origin, leave_s=leave_s)
        policies = setup.policies(document, origin=origin)
    except InvalidDocument as fault:
        raise Ended(str(fault), USAGE) from fault
    profiles = _profiles(entry)
    make = simulation.rule_maker(
        config[0], policies, node_selector=document.node_selector, bounds=settings.bounds
    )
    _try(make, profiles, config[1])
    access = None
    if _watches(entry) or entry.token_review.enabled:
        access = kube.Access(
            kubeconfig=options.get("kubeconfig", ""),
            context=options.get("context", ""),
            timeout_s=times.request_s,
        )
    return Plan(entry, settings, make, profiles, _certificates(entry.tls), access)


def _try(make: MakeRules, profiles: tuple[DeviceProfile, ...], config_source: str) -> None:
    """End the command where rules cannot be made of what is configured, or not of all of it."""
    try:
        made = make(profiles)
    except InvalidConfig as fault:
        raise Ended(f"{config_source}: {fault}", USAGE) from fault
    if made.left_out:
        names = ", ".join(each.name for each in made.left_out)
        raise Ended(
            f"The device profiles {names} name a vendor that the device configuration does not know. "
            "Correct spec.devices[].vendor, or configure the vendor.",
            USAGE,
        )


def _certificates(tls: SimulationTls) -> Certificates:
    return Certificates(
        CertificateFiles(
            certificate=tls.cert_file, key=tls.key_file, client_authorities=tls.client_ca_file
        )
    )


def serve(plan: Plan, *, parent: int | None) -> None:
    """Simulate alone until told to stop, or until the process that started this one is gone."""
    allow_open_files(OPEN_FILES)
    if parent is not None:
        os.nice(NICENESS)
    try:
        asyncio.run(_serve(plan, parent))
    except kube.Unusable as fault:
        raise Ended(str(fault), USAGE) from fault
    except kube.ClusterFault as fault:
        raise Ended(str(fault), UNREACHABLE) from fault


async def _serve(plan: Plan, parent: int | None) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    clock, calendar = MachineClock(), MachineCalendar()
    lines = JsonLines(calendar)
    logging.getLogger().addHandler(Forwarding(lines))
    async with AsyncExitStack() as stack:
        where = simulation.Where(
            calls=_opened(plan.entry.bind_address, stack),
            certificates=plan.certificates,
            pages=_opened(plan.entry.metrics_bind_address, stack)
            if plan.entry.metrics_bind_address
            else None,
        )
        connection = None
        if plan.access is not None:
            connection = await stack.enter_async_context(await kube.connect(plan.access))
        process = simulation.Process(
            plan.make,
            settings=plan.settings,
            times=simulation.Times(clock, calendar),
            make_name=lambda: secret(NAME_BYTES).hex(),
            log=lines,
            review=_review(plan.entry, connection),
        )
        watching = asyncio.create_task(_watch_parent(parent, stop))
        follow = None
        if connection is not None and _watches(plan.entry):
            waiting = kube.Waiting(clock=clock, rng=SeededRng(noise()), pause=asyncio.sleep)
            follow = kube.Follower(connection, waiting=waiting).follow
        await process.run(where, stop, profiles=plan.profiles, follow=follow)
        watching.cancel()


@asynccontextmanager
async def beside(
    document: ExtenderDocument, options: Mapping[str, Any], log: Log
) -> AsyncIterator[None]:
    """Keep a process that simulates running while the block is entered, if one is configured."""
    if document.simulation is None:
        yield
        return
    named = {"--kubeconfig": "kubeconfig", "--context": "context"}
    cluster = [f"{option}={options[name]}" for option, name in named.items() if name in options]
    command = [
        sys.executable, "-P", "-m", "springtide", "extender", "--simulation-only", "--config=-",
        f"--simulation-parent={os.getpid()}", *cluster,
    ]  # fmt: skip

    def ended(code: int, wait_s: float) -> None:
        log("simulation_ended", is_fault=True, code=code, again_s=wait_s)

    keeping = asyncio.create_task(
        children.keep(command, msgspec.json.encode(document), ended=ended)
    )
    try:
        yield
    finally:
        keeping.cancel()
        with suppress(asyncio.CancelledError):
            await keeping


async def _watch_parent(parent: int | None, stop: asyncio.Event) -> None:
    if parent is None:
        return
    while os.getppid() == parent:  # noqa: ASYNC110 - nobody tells of it
        await asyncio.sleep(PARENT_CHECK_S)
    stop.set()


def _opened(address: str, stack: AsyncExitStack) -> Listener:
    opened = listening(address)
    stack.callback(opened.socket.close)
    return opened


def _review(entry: SimulationEntry, connection: kube.Connection | None) -> simulation.Review | None:
    if connection is None or not entry.token_review.enabled:
        return None
    return kube.TokenReviews(connection, audiences=entry.token_review.audiences).user


def _watches(entry: SimulationEntry) -> bool:
    return entry.watch_profiles and not entry.profile_files


def _profiles(entry: SimulationEntry) -> tuple[DeviceProfile, ...]:
    """Return the profiles in the files, or end the command."""
    try:
        found = documents.decode(files.read(entry.profile_files, sys.stdin.buffer))
    except DocumentFault as fault:
        raise Ended(str(fault), USAGE) from fault
    if entry.profile_files and not found.profiles:
        raise Ended(
            f"{', '.join(entry.profile_files)}: there is no DeviceProfile; give one, or leave "
            "profileFiles out.",
            USAGE,
        )
    return found.profiles
