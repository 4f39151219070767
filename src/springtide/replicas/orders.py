"""What an operator orders of a member, over what it would do by itself; each is logged by whoever takes it."""

from springtide.engine.replicas.deciding import Ordered
from springtide.engine.replicas.label_messages import ShutdownPlanned
from springtide.engine.replicas.protection import Audit, DeleteRecord, Released
from springtide.engine.replicas.round_messages import Rescheduled
from springtide.model.replicas.rules import Schedule
from springtide.replicas.context import Context
from springtide.replicas.parts import Parts

CAUSE = "operator"


class NotLeading(Exception):
    """Only the member that leads does this; `leader` is its name, empty if nobody leads."""

    def __init__(self, leader: str) -> None:
        super().__init__(
            f"This member does not lead; ask {leader}." if leader else "Nobody leads at the moment."
        )
        self.leader = leader


class Orders:
    """Takes orders; those about all members are for the one that leads, others raise NotLeading."""

    def __init__(self, context: Context, parts: Parts) -> None:
        self._context = context
        self._parts = parts

    async def replicas(self, replicas: int | None, *, is_forced: bool = False) -> None:
        """Expect so many replicas from now on, within the bounds; None takes the order back."""
        self._must_lead()
        ordered = Ordered(replicas=replicas, is_forced=is_forced, cause=CAUSE)
        await self._parts.leading.order(ordered)

    async def reschedule(self, schedule: Schedule) -> None:
        """Let the running round come later."""
        self._must_lead()
        now_ms = self._context.times.now_ms()
        await self._parts.leading.order(Rescheduled(wanted=schedule, now_ms=now_ms, cause=CAUSE))

    def thaw(self) -> None:
        """Let a workload shrink again that lost a member which served: somebody has seen why."""
        self._must_lead()
        self._parts.evaluating.coordinating.thaw()

    def shutdown(self, in_s: float) -> None:
        """Let this member leave in so many seconds, as if it had no place any more."""
        at_ms = self._context.times.now_ms() + int(in_s * 1000)
        self._parts.labelling.tell(ShutdownPlanned(at_ms=at_ms, cause=CAUSE))

    async def release(self, index: int, *, operator: str) -> str:
        """Give up the record of a number whose state is lost or elsewhere; return what was said of it."""
        event = Released(index=index, operator=operator, cause=CAUSE)
        commands = self._parts.labelling.tell_records(event)
        words = " ".join(each.words for each in commands if isinstance(each, Audit))
        self._context.log("protection_released", index=index, operator=operator, message=words)
        deletions = tuple(each for each in commands if isinstance(each, DeleteRecord))
        await self._parts.labelling.keep(deletions)
        return words

    def _must_lead(self) -> None:
        if not self._parts.leading.is_leader:
            raise NotLeading(self._parts.following.leader)
