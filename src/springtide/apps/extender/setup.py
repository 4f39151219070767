"""From what is configured to what decides: the live scheduler with its families and settings."""

from collections.abc import Mapping
from typing import Final

import msgspec

from springtide.apps.extender.process import Candidacy
from springtide.apps.extender.settings import MIB, Choosing, Deadlines, Settings, Sizes
from springtide.apps.planner.families import Policies, families
from springtide.base.errors import SpringtideError
from springtide.engine.live import Live, LiveSettings
from springtide.engine.placement.configured import InvalidConfig
from springtide.wire import yaml
from springtide.wire.crd.extender import BY_SCHEDULER, ExtenderDocument, durations
from springtide.wire.errors import DocumentFault
from springtide.wire.origin import Origin
from springtide.wire.strict import remedy

DEVICE_CONFIG: Final = "the device configuration"
NODE_POLICIES: Final = ("binpack", "spread")
DEVICE_POLICIES: Final = ("binpack", "spread", "numa", "mutex", "topology-aware")


class InvalidSetup(SpringtideError):
    """What is configured cannot be; the message names the field and the remedy."""


class Whereabouts(msgspec.Struct, frozen=True, kw_only=True):
    """What the machine says of itself: our pod, if it is one, the host, and the local time.

    `run` is a word that no other run of the process has.
    """

    pod_name: str = ""
    pod_namespace: str = ""
    host: str = ""
    run: str = ""
    utc_offset_s: int = 0


def device_config(data: bytes, source: str) -> Mapping[str, object]:
    """Return HAMi's device configuration, or raise InvalidSetup."""
    try:
        found = yaml.documents(data, source)
    except DocumentFault as fault:
        raise InvalidSetup(str(fault)) from fault
    value = found[0].value if found else None
    if not isinstance(value, dict) or not value:
        raise InvalidSetup(
            f"{source}: all configurations are empty. Give the device configuration of HAMi's chart."
        )
    return value


def live(
    document: ExtenderDocument,
    config: Mapping[str, object] | None,
    *,
    origin: Origin,
    config_source: str,
    whereabouts: Whereabouts,
) -> Live:
    """Return the live scheduler, or raise InvalidSetup or InvalidDocument."""
    times = durations(document, origin=origin)
    try:
        known = families(config, policies(document, origin=origin))
    except InvalidConfig as fault:
        raise InvalidSetup(f"{config_source}: {fault}") from fault
    settings = LiveSettings(
        scheduler_name=document.scheduler_name,
        forces_default_scheduler=document.force_overwrite_default_scheduler,
        node_selector=document.node_selector,
        lock_timeout_s=times.node_lock_s,
        lock_wait_s=times.node_lock_retry_s,
        single_wait_s=times.bind_wait_s,
        reservation_timeout_s=times.reservation_s,
        writes_at_bind=document.reservation_written_at == "bind",
        utc_offset_s=whereabouts.utc_offset_s,
        leaves_choice=document.node_choice == BY_SCHEDULER,
    )
    return Live(known, settings)


def policies(document: ExtenderDocument, *, origin: Origin) -> Policies:
    """Return how nodes and devices are chosen, or raise InvalidDocument."""
    said = Policies(node=document.node_scheduler_policy, device=document.gpu_scheduler_policy)
    if said.node not in NODE_POLICIES:
        reason = f'"{said.node}" is no policy for nodes; {remedy(said.node, [*NODE_POLICIES])}'
        raise origin.fault(("nodeSchedulerPolicy",), reason)
    for word in (each.strip() for each in said.device.split(",")):
        if word not in DEVICE_POLICIES:
            reason = f'"{word}" is no policy for devices; {remedy(word, [*DEVICE_POLICIES])}'
            raise origin.fault(("gpuSchedulerPolicy",), reason)
    return said


def settings(
    document: ExtenderDocument,
    config: Mapping[str, object] | None,
    *,
    origin: Origin,
    whereabouts: Whereabouts,
) -> Settings:
    """Return the settings of the process around it."""
    times = durations(document, origin=origin)
    body_bytes = document.limits.body_mib * MIB
    return Settings(
        component=document.scheduler_name or "springtide",
        pod_name=whereabouts.pod_name,
        pod_namespace=whereabouts.pod_namespace,
        keeps_profiles=document.device_profiles.enabled,
        needs_client_certificate=bool(document.tls.client_ca_file),
        deadlines=Deadlines(
            request_s=times.request_s, bind_s=times.bind_wait_s + 1.0, leave_s=times.leave_s
        ),
        sizes=Sizes(
            body_bytes=body_bytes,
            bodies_bytes=3 * body_bytes,
            requests=document.limits.requests,
        ),
        choosing=Choosing(policies=policies(document, origin=origin), device_config=config),
    )


def candidacy(
    document: ExtenderDocument, *, origin: Origin, whereabouts: Whereabouts
) -> Candidacy | None:
    """Return by which lease it is decided who leads, None if there is only this process."""
    election = document.leader_election
    if not election.enabled:
        return None
    for name, text in (("name", election.name), ("namespace", election.namespace)):
        if not text:
            reason = "leader election is on, but this part of the lease is not said; say it."
            raise origin.fault(("leaderElection", name), reason)
    is_beside = not election.own
    return Candidacy(
        namespace=election.namespace,
        name=election.name,
        identity=whereabouts.host if is_beside else f"{whereabouts.host}_{whereabouts.run}",
        is_beside=is_beside,
    )
