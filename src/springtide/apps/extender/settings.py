"""What may be set of the process around the live scheduler; what decides is in `LiveSettings`."""

from collections.abc import Mapping
from typing import Final

import msgspec

from springtide.apps.planner.families import Policies

MIB: Final = 1 << 20


class Deadlines(msgspec.Struct, frozen=True, kw_only=True):
    """How long things may take, in seconds.

    `request_s` bounds one request to the API server, `bind_s` a bind with its wait for the node,
    `ready_s` how long a filter call waits for the process to know the cluster, `body_s` how long a caller
    may take to send a body. At the end everybody is answered for `leave_s` more, while it becomes known that
    the process is not ready any more, and then answers may take `drain_s` to finish.
    """

    request_s: float = 10.0
    bind_s: float = 29.0
    ready_s: float = 20.0
    body_s: float = 60.0
    leave_s: float = 0.0
    drain_s: float = 25.0


class Sizes(msgspec.Struct, frozen=True, kw_only=True):
    """How much may be at once.

    `body_bytes` bounds the body of a filter call, `bodies_bytes` those of all calls together, and
    `requests` how many requests to the API server are under way.
    """

    body_bytes: int = 128 * MIB
    review_bytes: int = 7 * MIB
    bodies_bytes: int = 384 * MIB
    requests: int = 64
    commands: int = 100_000


class Choosing(msgspec.Struct, frozen=True, kw_only=True):
    """How devices are chosen, as it is configured; whoever explains choices needs it, too."""

    policies: Policies = Policies()
    device_config: Mapping[str, object] | None = None


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of one process.

    `component` is whose events these are. `pod_name` and `pod_namespace` name our own pod, if we are one:
    then it and its replicas are labelled by who leads. `needs_client_certificate` says that callers must
    show one to be answered, but for probes. `keeps_profiles` has the leader hold nodes against their device
    profiles.
    """

    component: str = "springtide"
    pod_name: str = ""
    pod_namespace: str = ""
    replica_labels: str = "app.kubernetes.io/component=hami-scheduler"
    needs_client_certificate: bool = False
    keeps_profiles: bool = False
    deadlines: Deadlines = Deadlines()
    sizes: Sizes = Sizes()
    choosing: Choosing = Choosing()
