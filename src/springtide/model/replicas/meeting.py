"""What the objects are called in which the members of a workload meet in Kubernetes."""

from typing import Final

import msgspec

OBSERVING: Final = "-observe"


class Meeting(msgspec.Struct, frozen=True, kw_only=True):
    """Two ConfigMaps and a Lease, and a third ConfigMap where an application has values of its own."""

    status: str
    records: str
    lock: str
    values: str


def meeting(workload: str, *, is_observing: bool = False) -> Meeting:
    """Return the names; a fleet that only observes has a status and a lock of its own."""
    own = OBSERVING if is_observing else ""
    return Meeting(
        status=f"{workload}-hpa-status{own}",
        records=f"{workload}-hpa-records",
        lock=f"{workload}-hpa-leader{own}",
        values=f"{workload}-hpa-values",
    )
