"""Outages as this member saw them, and whether what is there after one is what the status says."""

from typing import Final

from springtide.engine.replicas import recovery
from springtide.engine.replicas.recovery import (
    Recovery,
    Source,
    SourceAway,
    SourceBack,
    Surveyed,
)
from springtide.engine.replicas.setup import checking
from springtide.model.replicas.member import Member
from springtide.model.replicas.status import Status
from springtide.replicas.context import Context

CAUSE: Final = "outage"


class Recovering:
    """Notes outages, and compares after them."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self.state = Recovery()

    def note(self, source: Source, *, is_away: bool) -> None:
        """Take note that a source answers, or does not."""
        steady_ms = self._context.times.steady_ms()
        kind = SourceAway if is_away else SourceBack
        self._step(kind(source=source, steady_ms=steady_ms, cause=CAUSE))

    async def survey(
        self,
        status: Status,
        members: tuple[Member, ...],
        *,
        numbers: dict[str, int],
        replicas: int | None,
        floor: int,
    ) -> None:
        """Compare what is there with the status; what differs is told."""
        times = self._context.times
        living = [each for each in members if each.is_alive and each.name in numbers]
        event = Surveyed(
            status=status,
            members=frozenset(numbers[each.name] for each in living),
            owners=frozenset(numbers[each.name] for each in living if each.is_target),
            now_ms=times.now_ms(),
            steady_ms=times.steady_ms(),
            cause=CAUSE,
            replicas=replicas,
            floor=floor,
        )
        for told in self._step(event):
            self._context.log("distribution_mismatch", is_fault=True, message=told.words)
            await self._context.complain(told.words)

    def _step(self, event: recovery.Event) -> tuple[recovery.DistributionMismatch, ...]:
        self.state, commands = recovery.step(checking(self._context.settings), self.state, event)
        return commands
