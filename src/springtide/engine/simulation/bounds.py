"""How much one process simulates at most. Every bound is on what callers can make it hold or do at once."""

import msgspec

MINUTE_S = 60.0


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """Nodes of one call without state; sessions, what each may hold, and for how long it is kept.

    A session remembers the answers to `operations_max` changes, of `answers_bytes_max` together, and a
    level that is open may take `changes_max` changes; of so many changed rows as `log_max` it is remembered
    which they are, and verdicts older than that are worked out anew. An estimate weighs every pod with every template.
    """

    nodes_max: int = 20_000
    sessions_max: int = 64
    sessions_per_client_max: int = 16
    session_nodes_max: int = 20_000
    sessions_nodes_max: int = 200_000
    session_pods_max: int = 200_000
    batch_max: int = 10_000
    levels_max: int = 64
    changes_max: int = 1_000_000
    log_max: int = 1 << 18
    operations_max: int = 4_096
    answers_bytes_max: int = 16 << 20
    ended_max: int = 4_096
    lease_s: float = MINUTE_S
    lease_s_max: float = 15 * MINUTE_S
    estimate_templates_max: int = 200
    estimate_pods_max: int = 200_000
    estimate_nodes_max: int = 20_000
    estimate_weighed_max: int = 4_000_000
    estimate_s_max: float = 10.0
