"""What an autoscaler and a StatefulSet do for the service: start the next member, or end the last one.

It sees what members export and nothing else. It grows at once, shrinks only to what was the largest wish of
a whole window, one member at a time, and holds where nobody says how many are wanted.
"""

import asyncio
from collections import deque
from typing import Final, Never, Protocol

import msgspec

from springtide.base.clock import Clock

LOOK_S: Final = 1.0
WISHES_MAX: Final = 10_000


class Exported(msgspec.Struct, frozen=True, gc=False):
    """What one member exports: replicas that are expected, and the highest number that holds state."""

    expected: int | None
    stateful_index: int | None


class Hosts(Protocol):
    """Where members run."""

    def exported(self) -> list[Exported]:
        """Return what can be seen of all members."""
        ...

    async def start(self, index: int) -> None:
        """Start a member; a number that ran before finds its disk again."""
        ...

    async def stop(self, index: int) -> None:
        """Ask a member to leave, and wait until it is gone."""
        ...


class Scaler:
    """Keeps as many members as are wanted."""

    def __init__(self, hosts: Hosts, clock: Clock, *, replicas: int, down_window_s: float) -> None:
        self._hosts = hosts
        self._clock = clock
        self._down_window_s = down_window_s
        self._wishes: deque[tuple[float, int]] = deque(maxlen=WISHES_MAX)
        self.replicas = replicas

    async def run(self) -> Never:
        """Start the first members, and scale until cancelled."""
        for index in range(1, self.replicas + 1):
            await self._hosts.start(index)
        while True:
            await asyncio.sleep(LOOK_S)
            await self._scale(self._wanted())

    def _wanted(self) -> int:
        exported = self._hosts.exported()
        expected = [each.expected for each in exported if each.expected is not None]
        if not expected:
            self._wishes.append((self._clock.monotonic_s(), self.replicas))
            return self.replicas
        wish = max(*expected, *(each.stateful_index or 0 for each in exported))
        now_s = self._clock.monotonic_s()
        self._wishes.append((now_s, wish))
        while self._wishes[0][0] < now_s - self._down_window_s:
            self._wishes.popleft()
        return max(wish, min(self.replicas, max(each for _, each in self._wishes)))

    async def _scale(self, wanted: int) -> None:
        if wanted > self.replicas:
            begun, self.replicas = self.replicas + 1, wanted
            for index in range(begun, wanted + 1):
                await self._hosts.start(index)
        elif wanted < self.replicas:
            last, self.replicas = self.replicas, self.replicas - 1
            await self._hosts.stop(last)
