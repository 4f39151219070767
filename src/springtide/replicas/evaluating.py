"""What an evaluation is made of: what every policy says, what must stay, and what keeps it from shrinking."""

from springtide.engine.replicas.deciding import EvaluationDue
from springtide.engine.replicas.holds import clock_holds, gap_holds
from springtide.engine.replicas.members import numbers
from springtide.engine.replicas.protection import floor
from springtide.engine.replicas.recovery import Source
from springtide.model.replicas.answer import Answered
from springtide.model.replicas.member import Member
from springtide.model.replicas.status import Status
from springtide.replicas.context import Context
from springtide.replicas.coordinating import Coordinating
from springtide.replicas.labelling import Labelling
from springtide.replicas.performing import Performing
from springtide.replicas.pulling import Pulls
from springtide.replicas.recovering import Recovering


class Evaluating:
    """Gathers what the leader decides by."""

    def __init__(
        self,
        context: Context,
        *,
        pulls: Pulls,
        labelling: Labelling,
        performing: Performing,
    ) -> None:
        self._context = context
        self._pulls = pulls
        self._labelling = labelling
        self._performing = performing
        self.recovering = Recovering(context)
        self.coordinating = Coordinating(context, performing)

    async def due(self, status: Status | None) -> EvaluationDue:
        """Return the evaluation that is due now."""
        members = self._pulls.members
        needs_replicas = status is None or self.recovering.state.is_due
        replicas = await self._performing.replicas() if needs_replicas else None
        if status is not None and self.recovering.state.is_due:
            await self.recovering.survey(
                status,
                members,
                numbers=numbers(members),
                replicas=replicas,
                floor=floor(self._labelling.protection.records),
            )
        times = self._context.times
        return EvaluationDue(
            judged=self._pulls.judged(),
            observed=max(observed(members), replicas or 0, 1),
            now_ms=times.now_ms(),
            steady_ms=times.steady_ms(),
            cause="interval",
            floor=self._floor(),
            holds=self._holds(members),
            are_victims_drained=self.coordinating.state.are_drained,
        )

    def note_metrics(self) -> None:
        """Take note of whether anybody answers for metrics at all."""
        came = [each.came for each in self._pulls.pulls.values() if each.came is not None]
        if came:
            is_away = not any(isinstance(each.answer, Answered) for each in came)
            self.recovering.note(Source.METRICS, is_away=is_away)

    async def coordinate(self, status: Status | None, *, is_leader: bool) -> None:
        """Look who went, where names say nothing; who leads marks who goes first."""
        if status is not None and self.coordinating.is_wanted:
            members = self._pulls.members
            await self.coordinating.look(members, status.expect, is_leader=is_leader)

    def _holds(self, members: tuple[Member, ...]) -> tuple[str, ...]:
        offset_ms = self._pulls.clock_offset_ms
        living = [each.index for each in members if each.index is not None and each.is_alive]
        has_numbers = self._context.identity.has_ordinal or self._context.is_allocated
        return (
            *self.recovering.state.holds,
            *self.coordinating.state.holds,
            *(gap_holds(living) if has_numbers else ()),
            *(clock_holds(offset_ms) if offset_ms is not None else ()),
        )

    def _floor(self) -> int:
        """Return what must stay whatever the load: the leader itself, where numbers are its own rank."""
        if self._context.identity.has_ordinal or self._context.settings.knobs.rank_slack == 0:
            return 0
        return self._labelling.state.plan.index or 0


def observed(members: tuple[Member, ...]) -> int:
    """Return how many replicas can be seen: members that live, and the highest number of one."""
    return max([len(members), *(each.index for each in members if each.index is not None)])
