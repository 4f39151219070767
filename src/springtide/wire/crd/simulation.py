"""The `simulation` section of an ExtenderConfiguration: the listener of hypothetical scheduling.

It stands apart from the live scheduler's settings, because it is another listener with callers of its own.
"""

from typing import Final

import msgspec

from springtide.base.durations import SECOND_NS, MalformedDuration, parse_duration_ns
from springtide.wire.origin import Origin

SECTION: Final = "simulation"


class _Strict(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A part of the section in which every field counts."""


class SimulationTls(
    _Strict, frozen=True, kw_only=True, rename={"client_ca_file": "clientCAFile",
                                                "cert_file": "certFile", "key_file": "keyFile"}
):  # fmt: skip
    """The files of the server's certificate, and of the authorities of clients."""

    cert_file: str = ""
    key_file: str = ""
    client_ca_file: str = ""


class TokenReviewEntry(_Strict, frozen=True, kw_only=True):
    """Whether bearer tokens are taken, and for whom they must have been issued."""

    enabled: bool = False
    audiences: tuple[str, ...] = ()


class SimulationLimits(_Strict, frozen=True, kw_only=True):
    """How much may be asked at once.

    `bodiesMib` bounds the bodies of all calls together, `waiting` how many calls of each kind wait for their
    turn. A client may make `burst` calls at once, and `callsPerSecond` in the long run.
    """

    body_mib: int = 128
    bodies_mib: int = 512
    waiting: int = 64
    calls_per_second: float = 100.0
    burst: int = 1000
    nodes: int = 20_000
    sessions: int = 64
    sessions_per_client: int = 16


class SimulationEntry(_Strict, frozen=True, kw_only=True):
    """The section as written; without it nothing is simulated.

    `identities` are the common names, SANs and user names that may call. DeviceProfiles are those of the
    cluster, unless `profileFiles` take their place or `watchProfiles` is false.
    """

    bind_address: str = "0.0.0.0:9444"
    metrics_bind_address: str = ""
    tls: SimulationTls = SimulationTls()
    identities: tuple[str, ...] = ()
    token_review: TokenReviewEntry = TokenReviewEntry()
    watch_profiles: bool = True
    profile_files: tuple[str, ...] = ()
    request_timeout: str = "10s"
    limits: SimulationLimits = SimulationLimits()


def check_simulation(entry: SimulationEntry, *, origin: Origin) -> None:
    """Raise InvalidDocument for the first part of the section that cannot be."""
    _check_access(entry, origin)
    for name, number in msgspec.to_builtins(entry.limits).items():
        if number < 1:
            raise origin.fault((SECTION, "limits", name), f"{number} is too few; write 1 or more.")
    timeout_s(entry, origin=origin)


def timeout_s(entry: SimulationEntry, *, origin: Origin) -> float:
    """Return how long a call may take, or raise InvalidDocument."""
    text = entry.request_timeout
    try:
        found = parse_duration_ns(text) / SECOND_NS
    except MalformedDuration as fault:
        reason = f'"{text}" is no duration; write it like 500ms, 10s or 1m.'
        raise origin.fault((SECTION, "requestTimeout"), reason) from fault
    if found <= 0:
        raise origin.fault((SECTION, "requestTimeout"), f'"{text}" is no time at all; write more.')
    return found


def _check_access(entry: SimulationEntry, origin: Origin) -> None:
    """Refuse what would let nobody in, or anybody."""
    tls = entry.tls
    for name, text in (("certFile", tls.cert_file), ("keyFile", tls.key_file)):
        if not text:
            reason = "callers have to be known, which takes TLS; name the PEM file."
            raise origin.fault((SECTION, "tls", name), reason)
    if not tls.client_ca_file and not entry.token_review.enabled:
        reason = (
            "no caller could show who it is; name the authorities of client certificates, or write "
            "`tokenReview: {enabled: true}`."
        )
        raise origin.fault((SECTION, "tls", "clientCAFile"), reason)
    if not entry.identities or not all(entry.identities):
        reason = (
            "nobody may call; list common names, SANs or user names, such as cluster-autoscaler or "
            "system:serviceaccount:kube-system:cluster-autoscaler."
        )
        raise origin.fault((SECTION, "identities"), reason)
