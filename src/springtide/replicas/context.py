"""What all parts of a controller share: who this member is, its settings, its store, and the time."""

import asyncio
import uuid
from collections import Counter

import msgspec

from springtide.base.clock import Calendar, Clock
from springtide.edge.lines import Log
from springtide.edge.store import Store
from springtide.model.replicas.knobs import Allocation
from springtide.model.replicas.settings import ReplicaSettings
from springtide.replicas.asking import Checks
from springtide.replicas.occurrences import Complaint, Listeners
from springtide.replicas.snapshot import Complained, Tally

COMPLAINTS_MAX = 20
"""So many of the latest are kept to be shown."""


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """Who this member is. `index` is the number of a pod; where it is None, the order of all says it.

    `address` is where others of the application reach it, and `labels` what the application adds.
    """

    name: str
    id: int = 0
    index: int | None = None
    service: str = ""
    address: str = ""
    labels: dict[str, str] = {}

    @property
    def has_ordinal(self) -> bool:
        """Return whether the number is this member's own."""
        return self.index is not None


class Times(msgspec.Struct, frozen=True):
    """Two clocks: one that never runs back, and one that others read, too."""

    clock: Clock
    calendar: Calendar

    def steady_ms(self) -> int:
        """Return milliseconds that never run back."""
        return int(self.clock.monotonic_s() * 1000)

    def now_ms(self) -> int:
        """Return milliseconds since 1970."""
        return int(self.calendar.unix_s() * 1000)


class Context:
    """Shared by the parts of one controller; only `settings` is ever another one, after a reload."""

    def __init__(
        self,
        identity: Identity,
        settings: ReplicaSettings,
        *,
        store: Store,
        times: Times,
        log: Log,
    ) -> None:
        self.identity = identity
        self.settings = settings
        self.store = store
        self.times = times
        self.log = log
        self.boot = uuid.uuid4().hex
        self.booted_ms = times.now_ms()
        self.checks = Checks()
        self.listeners = Listeners(log)
        self.complaints: list[Complained] = []
        self.stirred = asyncio.Event()
        """Set where something may have changed that a snapshot shows."""
        self._transitions: Counter[tuple[str, str]] = Counter()
        self._backend_errors: Counter[str] = Counter()
        self._exits: Counter[str] = Counter()

    @property
    def is_allocated(self) -> bool:
        """Return whether this member claims a number and keeps it."""
        is_chosen = self.settings.knobs.allocation is Allocation.ALLOCATED
        return is_chosen and not self.identity.has_ordinal

    async def complain(self, words: str) -> None:
        """Tell an operator, and the application."""
        self.log("complaint", is_fault=True, message=words)
        told = Complained(self.times.now_ms(), words)
        self.complaints = [*self.complaints, told][-COMPLAINTS_MAX:]
        self.stirred.set()
        await self.listeners.tell(Complaint(words))

    def count_transition(self, label: str, value: str) -> None:
        """Count that a label got a value."""
        self._transitions[label, value] += 1

    def count_backend_error(self, operation: str, why: str) -> None:
        """Count and tell that the store did not do something."""
        self._backend_errors[operation] += 1
        self.log("store_failed", is_fault=True, operation=operation, why=why)

    def count_exit(self, kind: str) -> None:
        """Count how this member ended."""
        self._exits[kind] += 1

    def tally(self, *, wrong_victims: int = 0) -> Tally:
        """Return what was counted."""
        return Tally(
            label_transitions=dict(self._transitions),
            backend_errors=dict(self._backend_errors),
            exits=dict(self._exits),
            wrong_victims=wrong_victims,
        )
