"""Where a room belongs, by what this member knows of the others."""

from springtide.engine.replicas.phases import Phase
from springtide.model.replicas.member import Member
from springtide.replicas import Snapshot
from springtide.replicas.forwarding import numbered
from springtide.replicas.ownership import owner_of


def target_count(snapshot: Snapshot) -> int:
    """Return how many members own state: the old number until a round starts, then the new one."""
    status = snapshot.status
    if status is None:
        return max(
            (each for each, member in numbered(snapshot.members).items() if member.is_target),
            default=0,
        )
    return status.current if snapshot.phase is Phase.PENDING else status.expect


def owner(room: str, snapshot: Snapshot, *, is_target: bool) -> Member | None:
    """Return the other member to which a room should move now; None if it stays.

    A room whose owner is not there, or not ready yet, stays where it is, unless this member has to leave.
    """
    count = target_count(snapshot)
    if count < 1:
        return None
    there = {
        index: each
        for index, each in numbered(snapshot.members).items()
        if each.is_target and each.is_ready and not each.is_stopping and index <= count
    }
    if is_target and snapshot.index is not None and snapshot.index <= count:
        found = owner_of(room, count)
        return there.get(found) if found != snapshot.index else None
    there.pop(snapshot.index or 0, None)
    if not there:
        return None
    return there[owner_of(room, count, absent=set(range(1, count + 1)) - set(there))]
