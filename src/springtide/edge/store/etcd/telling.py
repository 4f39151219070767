"""Tells what changed, and nothing twice, unless the store was away meanwhile."""

import asyncio

from springtide.edge.store.etcd.mirror import Mirror, Part
from springtide.edge.store.port import Deliver
from springtide.edge.store.told import Away, Confirmed, StatusRead, StoreTold, ValuesRead

_NOTHING = StatusRead(status=None)
_NO_VALUES = ValuesRead({})


class Teller:
    """What one follower was told of a mirror; members are gathered for a while."""

    def __init__(self, mirror: Mirror, deliver: Deliver, *, gather_s: float) -> None:
        self._mirror = mirror
        self._deliver = deliver
        self._gather_s = gather_s
        self._told: dict[Part, StoreTold] = {Part.VALUES: _NO_VALUES}
        self._due: asyncio.TimerHandle | None = None
        self._is_away = False

    def close(self) -> None:
        """Tell nothing more."""
        if self._due is not None:
            self._due.cancel()
            self._due = None

    def away(self, why: str) -> None:
        """Tell once that the store is not heard; all is told again when it is."""
        self.close()
        if not self._is_away:
            self._is_away, self._told = True, {Part.VALUES: _NO_VALUES}
            self._deliver(Away(why))

    def lost(self) -> None:
        """Tell that there is nothing any more, before whatever came afterwards."""
        self._tell(Part.STATUS, _NOTHING)

    def confirmed(self) -> None:
        """Tell what differs from what was told, and that all of it is so."""
        self.close()
        self._is_away = False
        for part in Part:
            self._tell(part, self._now(part))
        self._deliver(Confirmed())

    def changed(self, parts: set[Part]) -> None:
        """Tell what changed; members a little later, with others that change meanwhile."""
        for part in Part:
            if part in parts and part is not Part.MEMBERS:
                self._tell(part, self._now(part))
        if Part.MEMBERS in parts and self._due is None:
            loop = asyncio.get_running_loop()
            self._due = loop.call_later(self._gather_s, self._gathered)

    def _gathered(self) -> None:
        self._due = None
        self._tell(Part.MEMBERS, self._now(Part.MEMBERS))

    def _now(self, part: Part) -> StoreTold:
        match part:
            case Part.STATUS:
                return self._mirror.status
            case Part.MEMBERS:
                return self._mirror.members
            case Part.RECORDS:
                return self._mirror.records
            case Part.LOCK:
                return self._mirror.lock
            case Part.NUMBERS:
                return self._mirror.numbers
            case Part.VALUES:
                return self._mirror.values

    def _tell(self, part: Part, whole: StoreTold) -> None:
        if self._told.get(part) != whole:
            self._told[part] = whole
            self._deliver(whole)
