"""The one document that all members of a workload follow: how many are wanted, and from when on.

Times are milliseconds since 1970. `generation` grows by one with every decision.
"""

import msgspec


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """One decision: from so many replicas to so many, with the three times of its round."""

    current: int
    expect: int
    start_ms: int
    end_ms: int
    scaling_ms: int
    generation: int = 0
    controller_id: int = 0
    controller_name: str = ""
    reason: str = ""
    written_ms: int = 0
