"""Who decides: this member's part of the election, with the store's lock or by the order of all."""

import asyncio
from typing import Final, Never, Protocol, assert_never

from springtide.edge.store import ABSENT, Conflict, Held, StoreFault
from springtide.engine.replicas.leadership import (
    BeginLeading,
    Command,
    Deposed,
    EndLeading,
    Event,
    Leadership,
    LockSeen,
    NotWon,
    ReleaseLock,
    Renewed,
    Stage,
    Tick,
    TryLock,
    WakeAt,
    Won,
    step,
)
from springtide.engine.replicas.setup import terms
from springtide.replicas.context import Context

TICK_S_MAX: Final = 1.0
RENEWALS: Final = 3
"""So often within its time is a lock renewed."""
RELEASE_S_MAX: Final = 5.0


class Office(Protocol):
    """Told when this member begins and ends to lead; neither waits."""

    def begin(self, token: int) -> None:
        """Lead from now on."""
        ...

    def end(self) -> None:
        """Lead no more."""
        ...


class Lock(Protocol):
    """What only one member has."""

    async def acquire(self, holder: str, *, ttl_ms: int) -> Held | None:
        """Take it if it is free."""
        ...

    async def renew(self, token: int) -> None:
        """Keep it, or raise Conflict."""
        ...

    async def release(self, token: int) -> None:
        """Give it back."""
        ...


class FirstInOrder:
    """No lock: whoever is first in the order of all leads, as older fleets do it."""

    def __init__(self, *, is_in_use: bool) -> None:
        self.is_in_use = is_in_use
        self.is_ours = False

    async def acquire(self, holder: str, *, ttl_ms: int) -> Held | None:
        """Have it, if this member is first."""
        del holder, ttl_ms
        return Held(ABSENT) if self.is_ours else None

    async def renew(self, token: int) -> None:
        """Keep it for as long as this member is first."""
        if not self.is_ours:
            raise Conflict("NotFirst", "Another member is first in the order of all.")

    async def release(self, token: int) -> None:
        """Do nothing: whoever is first next has it."""


class Electing:
    """Follows the lock, takes it when it is this member's turn, and keeps it."""

    def __init__(self, context: Context, lock: Lock, office: Office) -> None:
        self._context = context
        self._lock = lock
        self._office = office
        self._woken = asyncio.Event()
        self._wanted: list[Command] = []
        self._next_renewal_ms = 0
        self._is_free = False
        self.state = Leadership()

    def tell(self, event: Event) -> None:
        """Fold an event; begin and end at once, and do the rest soon."""
        self._fold(event)
        self._woken.set()

    def _fold(self, event: Event) -> None:
        self.state, commands = step(terms(self._context.settings), self.state, event)
        for command in commands:
            match command:
                case BeginLeading(token=token):
                    self._office.begin(token)
                case EndLeading():
                    self._office.end()
                case TryLock() | ReleaseLock():
                    self._wanted.append(command)
                case WakeAt():
                    pass
                case _:
                    assert_never(command)

    def see_lock(self, token: int) -> None:
        """Take note of who holds the lock."""
        now_ms = self._context.times.steady_ms()
        self._is_free = token == ABSENT
        if self.state.holds_lock and token not in {ABSENT, self.state.token}:
            self.tell(Deposed(token=self.state.token, cause="lock"))
        self.tell(LockSeen(is_free=self._is_free, now_ms=now_ms, cause="lock"))

    async def run(self) -> Never:
        """Tick, try and renew until cancelled."""
        while True:
            await self._until_due()
            self._tick()
            await self.close()
            if self.state.holds_lock and self._is_renewal_due:
                await self._renew()

    async def close(self) -> None:
        """Do what is still wanted of the lock: take it, or give it back."""
        while self._wanted:
            await self._perform(self._wanted.pop(0))

    def _tick(self) -> None:
        """Tell the time, and a free lock again: an attempt on it may have failed."""
        now_ms = self._context.times.steady_ms()
        self._fold(Tick(now_ms=now_ms, cause="clock"))
        if self._is_free and self.state.stage is Stage.FOLLOWER:
            self._fold(LockSeen(is_free=True, now_ms=now_ms, cause="clock"))

    @property
    def _is_renewal_due(self) -> bool:
        return self._context.times.steady_ms() >= self._next_renewal_ms

    async def _until_due(self) -> None:
        now_ms = self._context.times.steady_ms()
        waits_s = [TICK_S_MAX]
        if self.state.holds_lock:
            waits_s.append(max(0, self._next_renewal_ms - now_ms) / 1000)
        if self.state.try_at_ms > now_ms:
            waits_s.append((self.state.try_at_ms - now_ms) / 1000)
        try:
            async with asyncio.timeout(min(waits_s)):
                await self._woken.wait()
        except TimeoutError:
            pass
        self._woken.clear()

    async def _perform(self, command: Command) -> None:
        match command:
            case TryLock():
                await self._try()
            case ReleaseLock(token=token):
                await self._release(token)
            case _:
                pass

    async def _try(self) -> None:
        times, found = self._context.times, terms(self._context.settings)
        asked_ms = times.steady_ms()
        held = None
        try:
            async with asyncio.timeout(found.renewed_ms_max / 1000):
                held = await self._lock.acquire(self._context.identity.name, ttl_ms=found.ttl_ms)
        except (StoreFault, TimeoutError) as fault:
            self._context.count_backend_error("acquire", str(fault))
        if held is None:
            self._fold(NotWon(cause="lock"))
            return
        self._next_renewal_ms = asked_ms + found.ttl_ms // RENEWALS
        won = Won(token=held.token, asked_ms=asked_ms, now_ms=times.steady_ms(), cause="lock")
        self._fold(won)

    async def _renew(self) -> None:
        times, found = self._context.times, terms(self._context.settings)
        asked_ms, token = times.steady_ms(), self.state.token
        self._next_renewal_ms = asked_ms + found.ttl_ms // RENEWALS
        try:
            async with asyncio.timeout(found.ttl_ms / RENEWALS / 1000):
                await self._lock.renew(token)
        except Conflict as fault:
            self._context.log("lock_lost", why=str(fault))
            self._fold(Deposed(token=token, cause="lock"))
        except (StoreFault, TimeoutError) as fault:
            self._context.count_backend_error("renew", str(fault))
        else:
            self._fold(Renewed(asked_ms=asked_ms, cause="lock"))

    async def _release(self, token: int) -> None:
        try:
            async with asyncio.timeout(RELEASE_S_MAX):
                await self._lock.release(token)
        except (StoreFault, TimeoutError) as fault:
            self._context.count_backend_error("release", str(fault))
