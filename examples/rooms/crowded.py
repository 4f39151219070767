"""Stands in for Prometheus where there is none: the leader asks every member how many people it has."""

import asyncio
from collections.abc import Callable
from decimal import Decimal
from typing import Final

from examples.rooms.messages import Count, Counted
from examples.rooms.world import Peers, Unreached
from springtide.base.clock import Calendar
from springtide.model.replicas.answer import Answer, Answered, Sample, Series
from springtide.model.replicas.member import Member

ASK_S_MAX: Final = 0.5
AGE_S: Final = 1


class Crowded:
    """Answers any query with the people in all rooms, how many members said so, and that it is new."""

    def __init__(
        self, peers: Peers, members: Callable[[], tuple[Member, ...]], calendar: Calendar
    ) -> None:
        self._peers = peers
        self._members = members
        self._calendar = calendar

    async def answer(self, text: str) -> Answer:
        """Return the three rows."""
        del text
        counts = await asyncio.gather(*(self._count(each) for each in self._members()))
        seen = [each.people for each in counts if each is not None]
        rows = (("v", sum(seen)), ("n", len(seen)), ("age", AGE_S))
        return Answered(series=tuple(self._row(*each) for each in rows))

    async def _count(self, member: Member) -> Counted | None:
        try:
            found = await self._peers.ask(member.address, Count(), timeout_s=ASK_S_MAX)
        except Unreached:
            return None
        return found if isinstance(found, Counted) else None

    def _row(self, name: str, value: int) -> Series:
        at_ms = int(self._calendar.unix_s() * 1000)
        return Series({"hpa_q": name}, (Sample(at_ms, Decimal(value)),))
