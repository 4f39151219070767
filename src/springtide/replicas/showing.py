"""The moment of a member, made of all its parts."""

from typing import Final

from springtide.engine.replicas.export import Seat, Shown, has_lingered, shown
from springtide.engine.replicas.phases import phase
from springtide.engine.replicas.protection import floor
from springtide.engine.replicas.setup import export_rules
from springtide.replicas.context import Context
from springtide.replicas.coordinating import Coordinating
from springtide.replicas.following import Following
from springtide.replicas.labelling import Labelling
from springtide.replicas.leading import Leading
from springtide.replicas.performing import Performing
from springtide.replicas.pulling import Pulls
from springtide.replicas.pulling import shown as policies_shown
from springtide.replicas.snapshot import Snapshot

NEVER_MS: Final = 1 << 62
"""The age of a status that no store ever confirmed."""


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
        performing: Performing,
        coordinating: Coordinating,
    ) -> None:
        self._context = context
        self._labelling = labelling
        self._leading = leading
        self._following = following
        self._pulls = pulls
        self._performing = performing
        self._coordinating = coordinating

    def snapshot(self) -> Snapshot:
        """Return what this member knows now."""
        context, labelling, leading = self._context, self._labelling, self._leading
        settings, now_ms = context.settings, context.times.now_ms()
        state, status, following = labelling.state, leading.status, self._following
        performing = self._performing
        at = None if status is None else phase(status, now_ms, knobs=settings.knobs)
        exported = shown(export_rules(settings), self._seat())
        recorded = floor(labelling.protection.records)
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
            store_fault=following.away_why,
            phase=at,
            expected=exported.expect,
            stateful_index=self._stateful_index(exported, recorded=recorded),
            mask=exported.mask,
            overdue_ms=state.overdue_ms(now_ms),
            clock_offset_ms=self._pulls.clock_offset_ms,
            leader=following.leader,
            suggestion_up=performing.shown.up,
            suggestion_down=performing.shown.down,
            why=performing.shown.why,
            next_evaluation_ms=self._next_evaluation_ms(now_ms),
            ordered=leading.state.ordered,
            floor=recorded,
            complaints=tuple(context.complaints),
            policies=policies_shown(self._pulls),
            members=following.members,
            tally=context.tally(wrong_victims=self._coordinating.wrong_victims),
        )

    def has_lingered(self) -> bool:
        """Return whether everybody has seen that this stopping member serves no more."""
        return has_lingered(export_rules(self._context.settings), self._seat())

    def _seat(self) -> Seat:
        """Return what this member knows of itself, as exports go by it."""
        times, following = self._context.times, self._following
        now_ms = times.now_ms()
        confirmed_ms = following.confirmed_ms
        return Seat(
            now_ms=now_ms,
            labels=self._labelling.state,
            status=self._leading.status,
            status_age_ms=NEVER_MS if confirmed_ms is None else max(0, now_ms - confirmed_ms),
            holds_lock=self._leading.is_leader,
            has_led=self._leading.has_led,
            has_ordinal=self._context.identity.has_ordinal,
            unready_ms=self._labelling.unready_ms(),
            stateful_count=self._coordinating.stateful_count(following.members),
        )

    def _stateful_index(self, exported: Shown, *, recorded: int) -> int | None:
        """Return the floor: this member's own, and that of all records as far as they are known.

        Every member says it, so that it outlives a leader that is lost together with the highest.
        """
        own, pull = exported.stateful_index, self._context.settings.pull
        is_known = exported.status_age_ms <= pull.status_max_age_ms
        if own is None or self._coordinating.is_wanted or not is_known:
            return own
        return max(own, recorded)

    def _next_evaluation_ms(self, now_ms: int) -> int | None:
        due_ms = self._leading.next_evaluation_ms
        if due_ms is None:
            return None
        return now_ms + due_ms - self._context.times.steady_ms()
