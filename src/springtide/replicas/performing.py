"""What follows from a decision: providers are asked, the status is read and written; outcomes are events."""

import asyncio
from typing import Final, assert_never

import msgspec
from msgspec.structs import replace

from springtide.edge.store import Conflict, Offer, StatusDamaged, StatusRead, StoreFault
from springtide.engine.replicas.deciding import Command, Evaluated, Event
from springtide.engine.replicas.providers import AskProvider
from springtide.engine.replicas.round_messages import (
    Complain,
    NotWritten,
    PutStatus,
    ReadStatus,
    StatusSeen,
    StatusUnreadable,
    Written,
)
from springtide.replicas.context import Context
from springtide.replicas.providing import Providers

STORE_S_MAX: Final = 10.0


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """What the last evaluation came to."""

    up: int | None = None
    down: int | None = None
    why: str = ""


class Performing:
    """Does what the machine wants done; `token` is that of the lock while this member leads."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self.providers = Providers()
        self.token: int | None = None
        self.must_read = False
        self.shown = Shown()

    async def perform(self, command: Command) -> Event | None:
        """Do it and return what came of it."""
        match command:
            case AskProvider():
                return await self.providers.ask(command)
            case Evaluated(suggestion=suggestion, why=why):
                self.shown = Shown(up=suggestion.up, down=suggestion.down, why=why)
                self._context.log("evaluated", replicas=command.replicas, why=why)
                return None
            case PutStatus():
                return await self._put(command)
            case ReadStatus():
                return await self.read()
            case Complain(words=words):
                await self._context.complain(words)
                return None
            case _:
                assert_never(command)

    async def read(self) -> Event | None:
        """Read the status again; where that fails, it is tried at the next turn."""
        try:
            async with asyncio.timeout(STORE_S_MAX):
                told = await self._context.store.read_status()
        except (StoreFault, TimeoutError) as fault:
            self._context.count_backend_error("read_status", str(fault))
            self.must_read = True
            return None
        self.must_read = False
        return self.seen(told)

    def seen(self, told: StatusRead | StatusDamaged) -> StatusSeen | StatusUnreadable:
        """Return what a store told as an event."""
        if isinstance(told, StatusDamaged):
            return StatusUnreadable(why=told.why, revision=told.revision, cause="store")
        now_ms = self._context.times.now_ms()
        return StatusSeen(status=told.status, revision=told.revision, now_ms=now_ms, cause="store")

    async def replicas(self) -> int | None:
        """Return what the workload is set to, None if nobody can tell."""
        try:
            async with asyncio.timeout(STORE_S_MAX):
                return await self._context.store.replicas()
        except (StoreFault, TimeoutError) as fault:
            self._context.count_backend_error("replicas", str(fault))
            return None

    async def _put(self, command: PutStatus) -> Event:
        token, identity = self.token, self._context.identity
        if token is None:
            return NotWritten(cause="deposed")
        status = replace(command.status, controller_id=identity.id, controller_name=identity.name)
        offer = Offer(token=token, revision=command.revision, status=status)
        try:
            async with asyncio.timeout(STORE_S_MAX):
                revision = await self._context.store.put_status(offer)
        except Conflict as fault:
            self._context.log("status_not_written", why=str(fault))
            return NotWritten(cause="conflict")
        except (StoreFault, TimeoutError) as fault:
            self._context.count_backend_error("put_status", str(fault))
            return NotWritten(cause="fault")
        self._context.log(
            "status_written",
            generation=status.generation,
            current=status.current,
            expect=status.expect,
            revision=revision,
            why=status.reason,
        )
        return Written(revision=revision, cause="put")
