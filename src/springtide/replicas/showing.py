"""The moment of a member, made of all its parts."""

from springtide.engine.replicas.phases import PHASE_BITS, Phase, exported, phase
from springtide.engine.replicas.protection import floor
from springtide.model.replicas.knobs import ElectionMode
from springtide.model.replicas.status import Status
from springtide.replicas.context import Context
from springtide.replicas.following import Following
from springtide.replicas.labelling import Labelling
from springtide.replicas.leading import Leading
from springtide.replicas.pulling import Pulls, shown
from springtide.replicas.snapshot import Snapshot

STATUS_MS_MAX = 60_000
"""So long after the store last confirmed it does a member that does not lead export what is expected."""
_LEADER, _ORDINAL, _READY, _TARGET = 0x1, 0x2, 0x10, 0x20


class Showing:
    """Makes snapshots; none of it waits."""

    def __init__(
        self,
        context: Context,
        *,
        labelling: Labelling,
        leading: Leading,
        following: Following,
        pulls: Pulls,
    ) -> None:
        self._context = context
        self._labelling = labelling
        self._leading = leading
        self._following = following
        self._pulls = pulls
        self.shows_floor = True

    def snapshot(self) -> Snapshot:
        """Return what this member knows now."""
        context, labelling, leading = self._context, self._labelling, self._leading
        settings, now_ms = context.settings, context.times.now_ms()
        state, status, following = labelling.state, leading.status, self._following
        at = None if status is None else phase(status, now_ms, knobs=settings.knobs)
        return Snapshot(
            name=context.identity.name,
            boot=context.boot,
            at_ms=now_ms,
            mode=settings.knobs.mode,
            is_enabled=settings.is_enabled,
            index=state.plan.index,
            has_ordinal=context.identity.has_ordinal,
            is_target=labelling.is_target,
            is_ready=labelling.is_ready,
            is_leader=leading.is_leader,
            is_stopping=state.plan.is_stopping,
            has_ready_check=context.checks.has_ready,
            has_stateful_check=context.checks.has_stateful,
            status=status,
            status_confirmed_ms=following.confirmed_ms,
            phase=at,
            expected=self._expected(status, now_ms),
            stateful_index=self._stateful_index(),
            mask=self._mask(at),
            overdue_ms=state.overdue_ms(now_ms),
            clock_offset_ms=self._pulls.clock_offset_ms,
            leader=following.leader,
            suggestion_up=leading.shown.up,
            suggestion_down=leading.shown.down,
            why=leading.shown.why,
            next_evaluation_ms=self._next_evaluation_ms(now_ms),
            ordered=leading.state.ordered,
            floor=floor(labelling.protection.records),
            complaints=tuple(context.complaints),
            policies=shown(self._pulls),
            members=following.members,
            tally=context.tally(),
        )

    def _expected(self, status: Status | None, now_ms: int) -> int | None:
        """Return what others are to scale to; who only follows says it for as long as it is confirmed."""
        if status is None or not self._context.settings.is_enabled:
            return None
        is_leader = self._leading.is_leader
        if self._context.settings.knobs.election is ElectionMode.DETERMINISTIC and not is_leader:
            return None
        confirmed_ms = self._following.confirmed_ms
        is_old = confirmed_ms is None or now_ms - confirmed_ms > STATUS_MS_MAX
        if is_old and not is_leader:
            return None
        return exported(status, now_ms, knobs=self._context.settings.knobs)

    def _stateful_index(self) -> int | None:
        """Return the floor: this member's own, and the leader's also that of all records."""
        if not self.shows_floor:
            return None
        own = self._labelling.state.stateful_index
        if not self._leading.is_leader:
            return own
        return max(own, floor(self._labelling.protection.records))

    def _mask(self, at: Phase | None) -> int:
        state = self._labelling.state
        return (
            (_LEADER if self._leading.is_leader else 0)
            | (_ORDINAL if self._context.identity.has_ordinal else 0)
            | (_READY if state.is_ready else 0)
            | (_TARGET if state.is_target else 0)
            | (PHASE_BITS[at] if at is not None else 0)
        )

    def _next_evaluation_ms(self, now_ms: int) -> int | None:
        due_ms = self._leading.next_evaluation_ms
        if due_ms is None:
            return None
        return now_ms + due_ms - self._context.times.steady_ms()
