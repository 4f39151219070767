"""What may be set of the simulation's server, and how it is read from a configuration."""

from typing import Final

import msgspec

from springtide.engine.simulation.bounds import Bounds
from springtide.wire.crd.simulation import SimulationEntry, timeout_s
from springtide.wire.origin import Origin

MIB: Final = 1 << 20


class Access(msgspec.Struct, frozen=True, kw_only=True):
    """Who may call, by any of its names, and how often.

    A client may make `burst` calls at once, and `calls_per_s` in the long run.
    """

    identities: frozenset[str]
    calls_per_s: float = 100.0
    burst: int = 1000


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """How much there may be at once.

    `bodies_bytes` bounds the bodies of all calls together until they are answered, `waiting` the calls of
    each lane that wait for their turn, `request_s` how long a call may take, and `body_s` how long a body
    may. At the end everybody is answered for `leave_s` more, while it becomes known that the server is not
    ready any more, and then answers may take `drain_s` to finish.
    """

    body_bytes: int = 128 * MIB
    bodies_bytes: int = 512 * MIB
    waiting: int = 64
    request_s: float = 10.0
    body_s: float = 60.0
    leave_s: float = 0.0
    drain_s: float = 10.0


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of one server."""

    access: Access
    limits: Limits = Limits()
    bounds: Bounds = Bounds()


def settings(entry: SimulationEntry, *, origin: Origin, leave_s: float = 0.0) -> Settings:
    """Return the settings that a section says, or raise InvalidDocument."""
    said = entry.limits
    request_s = timeout_s(entry, origin=origin)
    return Settings(
        access=Access(
            identities=frozenset(entry.identities),
            calls_per_s=said.calls_per_second,
            burst=said.burst,
        ),
        limits=Limits(
            body_bytes=said.body_mib * MIB,
            bodies_bytes=max(said.bodies_mib, said.body_mib) * MIB,
            waiting=said.waiting,
            request_s=request_s,
            leave_s=leave_s,
        ),
        bounds=Bounds(
            nodes_max=said.nodes,
            sessions_max=said.sessions,
            sessions_per_client_max=said.sessions_per_client,
            estimate_s_max=min(request_s, Bounds().estimate_s_max),
        ),
    )
