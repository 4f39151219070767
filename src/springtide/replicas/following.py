"""What the store tells, brought to the parts of this member in its order."""

import asyncio
from typing import Final, Never, assert_never

from springtide.edge.store import (
    ABSENT,
    Away,
    Confirmed,
    LockRead,
    MembersRead,
    NumbersRead,
    RecordsRead,
    StatusDamaged,
    StatusRead,
    StoreTold,
    ValuesRead,
)
from springtide.engine.replicas.label_messages import StatusKnown, StatusLost
from springtide.engine.replicas.leadership import StandingSeen
from springtide.engine.replicas.members import first_leader, living
from springtide.engine.replicas.protection import MemberLost, MembersSeen, RecordsSeen
from springtide.engine.replicas.recovery import Source
from springtide.model.replicas.member import Member
from springtide.replicas import occurrences
from springtide.replicas.context import Context
from springtide.replicas.discoveries import Discoveries
from springtide.replicas.electing import Electing, FirstInOrder
from springtide.replicas.labelling import Labelling
from springtide.replicas.leading import Leading
from springtide.replicas.numbering import Numbering
from springtide.replicas.pulling import Pulls
from springtide.replicas.recovering import Recovering

TOLD_MAX: Final = 100_000
"""So much may be told and not yet taken; a store tells some tens a second at most."""


class Following:
    """Takes what the store tells, one after the other."""

    def __init__(
        self,
        context: Context,
        *,
        labelling: Labelling,
        leading: Leading,
        electing: Electing,
        pulls: Pulls,
        order: FirstInOrder,
        recovering: Recovering,
        numbering: Numbering,
        discoveries: Discoveries,
    ) -> None:
        self._context = context
        self._labelling = labelling
        self._leading = leading
        self._electing = electing
        self._pulls = pulls
        self._order = order
        self._recovering = recovering
        self._numbering = numbering
        self._discoveries = discoveries
        self._told: asyncio.Queue[StoreTold] = asyncio.Queue(TOLD_MAX)
        self.everybody: tuple[Member, ...] = ()
        self.members: tuple[Member, ...] = ()
        self.leader = ""
        self.confirmed_ms: int | None = None
        self.away_why = ""

    async def follow(self) -> Never:
        """Have the store tell, until cancelled."""
        await self._context.store.follow(self._told.put_nowait)

    async def run(self) -> Never:
        """Take what was told, until cancelled."""
        while True:
            await self._take(await self._told.get())
            self._context.stirred.set()

    def stand(self) -> None:
        """Tell the election whether this member may lead, and its place."""
        plan, status = self._labelling.state.plan, self._leading.status
        has_place = status is None or plan.index is None or plan.index <= status.expect
        is_eligible = (
            self._context.settings.is_enabled
            and not plan.is_stopping
            and not self._was_sent_away()
            and (has_place or not self._context.settings.labels.is_led)
        )
        now_ms = self._context.times.steady_ms()
        self._electing.tell(
            StandingSeen(
                is_eligible=is_eligible, place=self._place(), now_ms=now_ms, cause="members"
            )
        )

    def _was_sent_away(self) -> bool:
        """Return whether an operator has sent this member away, and others may lead in its place.

        Whoever is first in the order of all leads though it was sent away: older members see it so, too.
        """
        labels = self._labelling.state
        if self._order.is_in_use or labels.plan.shutdown_ms is None or labels.is_target:
            return False
        own = self._context.identity.name
        candidates = (each for each in self.members if each.is_alive and not each.is_stopping)
        return any(each.is_target and each.name != own for each in candidates)

    async def _take(self, told: StoreTold) -> None:
        match told:
            case Away(why=why):
                self.away_why = why
                self._context.count_backend_error("follow", why)
                self._recovering.note(Source.STORE, is_away=True)
                self._labelling.tell(StatusLost(cause="store"))
            case Confirmed():
                self._confirmed()
                self._numbering.confirm()
            case StatusRead() | StatusDamaged():
                await self._take_status(told)
            case MembersRead(members=members):
                await self._take_members(members)
            case RecordsRead(records=records):
                event = RecordsSeen(records=records, cause="store")
                await self._take_losses(self._labelling.tell_records(event))
            case LockRead(token=token, holder=holder):
                self.leader = holder
                self._electing.see_lock(token)
            case NumbersRead(holders=holders):
                self._numbering.see_numbers(holders)
            case ValuesRead(values=values):
                self._discoveries.see(values)
            case _:
                assert_never(told)

    def _confirmed(self) -> None:
        self.away_why = ""
        self.confirmed_ms = self._context.times.now_ms()
        self._recovering.note(Source.STORE, is_away=False)

    async def _take_status(self, told: StatusRead | StatusDamaged) -> None:
        self._confirmed()
        await self._leading.see(told)
        status = self._leading.status
        if isinstance(told, StatusRead) and told.status is None:
            self._labelling.tell(StatusLost(cause="deleted"))
        elif status is not None:
            self._labelling.tell(StatusKnown(status=status, cause="store"))
        self.stand()

    async def _take_members(self, everybody: tuple[Member, ...]) -> None:
        context, identity = self._context, self._context.identity
        target = context.settings.workload.name
        self.everybody = everybody
        self.members = tuple(each for each in everybody if each.target == target)
        self._pulls.members = self.members
        self._discoveries.see_members(self.members)
        self._numbering.see_members(self.members)
        first = first_leader(self.members)
        self._order.is_ours = first is not None and first.name == identity.name
        if self._order.is_in_use:
            self.leader = "" if first is None else first.name
            self._electing.see_lock(ABSENT if self._order.is_ours else OTHERS)
        seen = MembersSeen(living=living(self.members), cause="store")
        losses = self._labelling.tell_records(seen)
        self.stand()
        await context.listeners.tell(occurrences.MembersChanged(everybody))
        await self._take_losses(losses)

    async def _take_losses(self, commands: tuple[object, ...]) -> None:
        for command in commands:
            if isinstance(command, MemberLost):
                words = (
                    f"Number {command.index} is gone and may hold state: "
                    f"{command.record.member} did not drain."
                )
                await self._context.complain(words)
                await self._context.listeners.tell(
                    occurrences.MemberLost(index=command.index, record=command.record)
                )

    def _place(self) -> int:
        """Return how many living members are to lead before this one."""

        def order(member: Member) -> tuple[int, int, str]:
            return (member.index or 0, member.id, member.name)

        mine = order(self._labelling.member())
        candidates = (each for each in self.members if not each.is_stopping and each.is_alive)
        return sum(1 for each in candidates if order(each) < mine)


OTHERS: Final = -1
"""Stands for the lock of whoever is first in the order of all, where there is none."""
