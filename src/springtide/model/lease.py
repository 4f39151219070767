"""A lease: who holds an office, and how long without a sign before others may take it."""

import msgspec


class Lease(msgspec.Struct, frozen=True, kw_only=True):
    """What a Lease object says.

    Times are as their writer's clock had them and are never compared with ours: only whether they change
    counts. `version` is what the server calls this state of the object, empty for one not yet there.
    """

    namespace: str
    name: str
    holder: str = ""
    duration_s: int = 0
    acquired: str = ""
    renewed: str = ""
    transitions: int = 0
    version: str = ""
