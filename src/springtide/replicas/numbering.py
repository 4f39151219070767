"""The number of a member that has no ordinal: its place in the order of all, or one that it claims and keeps.

A claimed number hangs on the member's lease in the store. Who is cut off keeps it for itself until the store is
heard again; if another one has it by then, the next that is free is claimed.
"""

import asyncio
from typing import Final, Never

from springtide.edge.store import StoreFault
from springtide.engine.replicas.allocation import allocate
from springtide.engine.replicas.label_messages import IndexKnown
from springtide.engine.replicas.members import rank
from springtide.model.replicas.knobs import Allocation
from springtide.model.replicas.member import Member
from springtide.replicas.context import Context
from springtide.replicas.labelling import Labelling

CLAIM_S_MAX: Final = 10.0
CLAIMS_MAX: Final = 64
"""So many numbers are tried before it is waited for what the store tells."""
RETRY_S_MIN: Final = 0.2
RETRY_S_MAX: Final = 5.0


class Numbering:
    """Knows the number of this member."""

    def __init__(self, context: Context, labelling: Labelling) -> None:
        self._context = context
        self._labelling = labelling
        self._holders: dict[int, str] = {}
        self._is_claimed = False
        self._woken = asyncio.Event()

    def see_members(self, members: tuple[Member, ...]) -> None:
        """Take the place among all, where that is the number."""
        identity = self._context.identity
        if not (identity.has_ordinal or self._context.is_allocated):
            self._know(rank(members, identity.id, identity.name))

    def see_numbers(self, holders: dict[int, str]) -> None:
        """Take note of who holds which number."""
        self._holders = holders
        self._is_claimed = self._is_claimed and self._context.identity.name in holders.values()
        self._woken.set()

    def confirm(self) -> None:
        """Know that the store is heard, so that a number can be claimed."""
        self._woken.set()

    async def run(self) -> Never:
        """Claim a number whenever this member has none, until cancelled."""
        while True:
            await self._woken.wait()
            self._woken.clear()
            wait_s = RETRY_S_MIN
            while self._context.is_allocated and not await self._is_settled():
                await asyncio.sleep(wait_s)
                wait_s = min(2 * wait_s, RETRY_S_MAX)

    async def _is_settled(self) -> bool:
        """Return whether this member has a number, after it has tried to get one.

        What the run before it held is claimed, too: it hangs on a lease that runs out.
        """
        if self._is_claimed:
            return True
        index = await self._claimed()
        self._is_claimed = index is not None
        if index is not None and self._know(index):
            await self._labelling.register()
        return self._is_claimed

    async def _claimed(self) -> int | None:
        taken = dict(self._holders)
        before, own = self._labelling.state.plan.index, self._context.identity.name
        try:
            async with asyncio.timeout(CLAIM_S_MAX):
                for _ in range(CLAIMS_MAX):
                    index = allocate(taken, own, before=before)
                    if await self._context.store.claim_index(index):
                        return index
                    taken[index] = _OTHERS
        except (StoreFault, TimeoutError) as fault:
            self._context.count_backend_error("claim_index", str(fault))
        return None

    def _know(self, index: int | None) -> bool:
        """Take a number, and return whether it is another one than before."""
        if index == self._labelling.state.plan.index:
            return False
        self._context.log("number", index=index, allocation=self._allocation)
        self._labelling.tell(IndexKnown(index=index, cause="members"))
        return True

    @property
    def _allocation(self) -> Allocation:
        return self._context.settings.knobs.allocation


_OTHERS: Final = ""
"""Stands for whoever took a number since it was told who holds which."""
