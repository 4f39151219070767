"""Whether the members that own state reach each other, asked before one of them says that it is ready.

A member that nobody can reach must not become an owner: what is moved to it would be gone. The probe is the
application's own, over the way that its state will take.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeAlias

from springtide.model.replicas.member import Member

PROBE_S_MAX: Final = 1.0
PROBES_MAX: Final = 16
"""So many members are probed at a time."""

Probe: TypeAlias = Callable[[Member], Awaitable[bool]]


class Reaching:
    """Probes the other owners; feeds the ready check."""

    def __init__(self, name: str, probe: Probe, *, timeout_s: float = PROBE_S_MAX) -> None:
        self._name = name
        self._probe = probe
        self._timeout_s = timeout_s
        self.unreached: tuple[str, ...] = ()
        """Whom the last check did not reach."""

    async def check(self, members: Sequence[Member], *, least: int = 1) -> bool:
        """Return whether at least so many other Target members answer, or all if there are fewer."""
        others = [
            each for each in members if each.is_target and each.is_alive and each.name != self._name
        ]
        turns = asyncio.Semaphore(PROBES_MAX)
        answers = await asyncio.gather(*(self._reaches(each, turns) for each in others))
        found = zip(others, answers, strict=True)
        self.unreached = tuple(each.name for each, is_reached in found if not is_reached)
        return sum(answers) >= min(least, len(others))

    async def _reaches(self, member: Member, turns: asyncio.Semaphore) -> bool:
        async with turns:
            try:
                async with asyncio.timeout(self._timeout_s):
                    return await self._probe(member)
            except Exception:  # noqa: BLE001 - whatever the application raises, nobody was reached
                return False
