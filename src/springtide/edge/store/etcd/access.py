"""Where an etcd is, how it knows us, and in which rhythm it is asked."""

from typing import Final
from urllib.parse import urlsplit

import msgspec

from springtide.edge.http import Unusable
from springtide.model.scheduler import ExtenderTLSConfig
from springtide.wire.replica_keys import DISCOVERY, PREFIX

ENDPOINTS_MAX: Final = 32


class Pace(msgspec.Struct, frozen=True, kw_only=True):
    """How long a member lives unheard, and how often what was told is read again; in seconds.

    A member asks 3 / member_ttl_s + 1 / confirm_s times a second while nothing happens.
    """

    member_ttl_s: float = 15.0
    confirm_s: float = 20.0
    gather_s: float = 0.1
    again_s_min: float = 0.2
    again_s_max: float = 5.0


class EtcdAccess(msgspec.Struct, frozen=True, kw_only=True):
    """An etcd with the keys of a workload.

    `discovery` is where members are found, and `prefix` where the status lies, both as older members
    have them. The file of the password is read whenever one is shown. `timeout_s` is for one call.
    """

    endpoints: tuple[str, ...]
    prefix: str = PREFIX
    discovery: str = DISCOVERY
    type_id: int = 0
    user: str = ""
    password_file: str = ""
    tls: ExtenderTLSConfig | None = None
    timeout_s: float = 5.0
    connect_s: float = 2.0
    pace: Pace = Pace()


def checked(access: EtcdAccess) -> EtcdAccess:
    """Return it if it can be tried, or raise Unusable with the field and the remedy."""
    if not 0 < len(access.endpoints) <= ENDPOINTS_MAX:
        raise Unusable(
            "endpoints", f"there are {len(access.endpoints)}; give 1 to {ENDPOINTS_MAX} addresses."
        )
    for index, endpoint in enumerate(access.endpoints):
        _check_endpoint(f"endpoints[{index}]", endpoint, access)
    for field in ("prefix", "discovery"):
        if not getattr(access, field).startswith("/"):
            raise Unusable(field, "keys of etcd begin with a slash here; add it.")
    if access.user and not access.password_file:
        raise Unusable("passwordFile", f"the user {access.user} has no password; name its file.")
    if access.password_file and not access.user:
        raise Unusable("user", "there is a password of nobody; name the user.")
    if access.pace.member_ttl_s < 1:
        raise Unusable("pace.memberTtlS", "etcd counts in whole seconds; give at least 1.")
    return access


def _check_endpoint(field: str, endpoint: str, access: EtcdAccess) -> None:
    try:
        parts = urlsplit(endpoint)
        is_whole = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_whole = False
        parts = urlsplit("")
    if not is_whole or parts.path.strip("/") or parts.query:
        why = f'"{endpoint}" is no address; write it like https://etcd-0:2379.'
        raise Unusable(field, why)
    if access.tls is not None and parts.scheme == "http":
        raise Unusable(field, "there are certificates, but this is in the clear; write https.")
