"""All sessions of a process: whose they are, how long they last, and how many there may be.

A session belongs to the client that opened it; to others it is not there. Using it renews its lease, and
one whose lease has run out is gone. Time is told by the caller.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator

import msgspec

from springtide.engine.simulation.bounds import Bounds
from springtide.engine.simulation.errors import (
    NoSuchSession,
    RevisionMoved,
    SessionEnded,
    TooMany,
)
from springtide.engine.simulation.filtering import Sight
from springtide.engine.simulation.operations import Operations
from springtide.engine.simulation.session import Session


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """Which change a call is, and the revision that it is for, if it says one."""

    operation: str
    digest: bytes
    if_revision: int | None = None


class Counts(msgspec.Struct, kw_only=True):
    """What became of sessions so far."""

    opened: int = 0
    expired: int = 0
    closed: int = 0
    refused: int = 0


class Lease:
    """One session that a client holds, and its revision, which names a state of it."""

    def __init__(
        self, session: Session, *, client: str, name: str, lease_s: float, bounds: Bounds
    ) -> None:
        self.session = session
        self.client = client
        self.name = name
        self.lease_s = lease_s
        self.ends_s = 0.0
        self.revision = 0
        self._operations = Operations(bounds)

    def renew(self, now_s: float) -> None:
        """Let the lease begin anew."""
        self.ends_s = now_s + self.lease_s

    def change(self, change: Change, make: Callable[[int], bytes]) -> bytes:
        """Make a change, unless it was made before, and return its answer.

        `make` is told the revision that there will be; if it raises, nothing has happened.
        """
        known = self._operations.answer(change.operation, change.digest)
        if known is not None:
            return known
        if change.if_revision not in {None, self.revision}:
            assert change.if_revision is not None
            raise RevisionMoved(wanted=change.if_revision, revision=self.revision)
        answer = make(self.revision + 1)
        self.revision += 1
        self._operations.remember(change.operation, change.digest, answer)
        return answer


class Sessions:
    """The sessions of all clients."""

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self._leases: dict[tuple[str, str], Lease] = {}
        self._openings: dict[tuple[str, str], tuple[str, Operations]] = {}
        self._ended: OrderedDict[tuple[str, str], None] = OrderedDict()
        self.counts = Counts()

    def __len__(self) -> int:
        """Return how many sessions there are, those included whose lease has run out unnoticed."""
        return len(self._leases)

    def __iter__(self) -> Iterator[Lease]:
        """Iterate over the sessions."""
        return iter(tuple(self._leases.values()))

    def open(
        self,
        client: str,
        name: str,
        change: Change,
        make: Callable[[Lease], bytes],
        *,
        sight: Sight,
        lease_s: float,
        now_s: float,
    ) -> bytes:
        """Open a session under a name that nobody else can guess, and return the answer.

        `sight` looks at its nodes; `make` puts into the session what it begins with. The same call again gets the first answer, as long
        as the session lasts.
        """
        self.expire(now_s)
        key = client, change.operation
        if key in self._openings:
            first, operations = self._openings[key]
            known = operations.answer(change.operation, change.digest)
            assert known is not None
            self._leases[client, first].renew(now_s)
            return known
        self._must_have_place(client)
        session = Session(sight, self._bounds)
        lease = Lease(session, client=client, name=name, lease_s=lease_s, bounds=self._bounds)
        lease.renew(now_s)
        answer = make(lease)
        self._leases[client, name] = lease
        operations = Operations(self._bounds)
        operations.remember(change.operation, change.digest, answer)
        self._openings[key] = name, operations
        self.counts.opened += 1
        return answer

    def find(self, client: str, name: str, *, now_s: float, renews: bool = True) -> Lease:
        """Return a session of a client, in use from now on unless it is only looked at."""
        self.expire(now_s)
        lease = self._leases.get((client, name))
        if lease is None:
            if (client, name) in self._ended:
                raise SessionEnded(
                    f"session {name} is gone; open a new one from the snapshot, and make it last "
                    "longer if it was not used in time"
                )
            raise NoSuchSession(f"there is no session {name}; open one from the snapshot")
        if renews:
            lease.renew(now_s)
        return lease

    def close(self, client: str, name: str, *, now_s: float) -> None:
        """End a session."""
        self.find(client, name, now_s=now_s)
        self._end((client, name))
        self.counts.closed += 1

    def expire(self, now_s: float) -> None:
        """End the sessions whose lease has run out."""
        for key in [key for key, lease in self._leases.items() if lease.ends_s <= now_s]:
            self._end(key)
            self.counts.expired += 1

    def must_have_room(self, nodes: int) -> None:
        """Refuse so many nodes more, where all sessions together would have too many."""
        there = sum(lease.session.node_count for lease in self._leases.values())
        most = self._bounds.sessions_nodes_max
        if there + nodes > most:
            self.counts.refused += 1
            raise TooMany(
                f"all sessions together have {there} nodes, and {most} are the most; try again once "
                "others have ended"
            )

    def _must_have_place(self, client: str) -> None:
        own = sum(each == client for each, _ in self._leases)
        bounds = self._bounds
        if own >= bounds.sessions_per_client_max:
            self.counts.refused += 1
            raise TooMany(f"the client has {own} sessions, and these are the most; end one of them")
        if len(self) >= bounds.sessions_max:
            self.counts.refused += 1
            raise TooMany(
                f"there are {len(self)} sessions, and these are the most; try again later"
            )

    def _end(self, key: tuple[str, str]) -> None:
        del self._leases[key]
        client, name = key
        for opening, (first, _) in list(self._openings.items()):
            if opening[0] == client and first == name:
                del self._openings[opening]
        self._ended[key] = None
        if len(self._ended) > self._bounds.ended_max:
            self._ended.popitem(last=False)
