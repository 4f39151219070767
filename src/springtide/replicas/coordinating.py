"""Who goes first where names say nothing: the leader marks the pods of a Deployment, and verifies who went."""

import asyncio
from typing import Final

from springtide.edge.store import StoreFault
from springtide.engine.replicas import victims
from springtide.engine.replicas.victims import (
    Coordination,
    Pod,
    PodsSeen,
    SetCost,
    Thawed,
    WrongVictim,
    stateful_count,
)
from springtide.model.replicas.member import Member
from springtide.replicas.context import Context
from springtide.replicas.performing import STORE_S_MAX, Performing

LOOK_MS: Final = 5_000
"""So often at most is looked who is there: each look reads what the workload is set to."""


class Coordinating:
    """Looks at the pods of a coordinated workload, and marks them while this member leads."""

    def __init__(self, context: Context, performing: Performing) -> None:
        self._context = context
        self._performing = performing
        self._looked_ms: int | None = None
        self.wrong_victims = 0
        self.state = Coordination()

    @property
    def is_wanted(self) -> bool:
        """Return whether the workload's members have no order of their own."""
        return self._context.settings.is_coordinated

    def thaw(self) -> None:
        """Let the workload shrink again after a wrong victim."""
        self.state, _ = victims.step(self.state, Thawed(cause="operator"))

    def stateful_count(self, members: tuple[Member, ...]) -> int | None:
        """Return how many members may hold state; None where numbers say it."""
        if not self.is_wanted:
            return None
        return stateful_count(pods(members))

    async def look(self, members: tuple[Member, ...], expect: int, *, is_leader: bool) -> None:
        """Look who is there, mark who goes first, and tell who should not have gone."""
        steady_ms = self._context.times.steady_ms()
        if self._looked_ms is not None and steady_ms - self._looked_ms < LOOK_MS:
            return
        self._looked_ms = steady_ms
        event = PodsSeen(
            pods=pods(members),
            expect=expect,
            steady_ms=steady_ms,
            cause="look",
            # Read after the pods: none of them may be gone for a number that was not seen.
            replicas=await self._performing.replicas(),
            is_leader=is_leader,
        )
        self.state, commands = victims.step(self.state, event)
        for command in commands:
            match command:
                case SetCost(pod=pod, cost=cost):
                    await self._set_cost(pod, cost)
                case WrongVictim(pod=pod, words=words):
                    self.wrong_victims += 1
                    self._context.log("wrong_victim", is_fault=True, pod=pod)
                    await self._context.complain(words)

    async def _set_cost(self, pod: str, cost: int) -> None:
        try:
            async with asyncio.timeout(STORE_S_MAX):
                await self._context.store.set_cost(pod, cost)
        except (StoreFault, TimeoutError) as fault:
            self._context.count_backend_error("set_cost", str(fault))
        else:
            self._context.log("deletion_cost", pod=pod, cost=cost)


def pods(members: tuple[Member, ...]) -> tuple[Pod, ...]:
    """Return the members that are not being deleted, numbered by their order."""
    ordered = sorted(members, key=lambda each: (each.id, each.name))
    return tuple(
        Pod(
            name=each.name,
            index=number,
            is_target=each.is_target,
            is_ready=each.is_ready,
            is_pod_ready=each.is_pod_ready,
            cost=each.deletion_cost,
        )
        for number, each in enumerate(ordered, start=1)
        if each.is_alive
    )
