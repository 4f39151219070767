"""A store for one member whose site is in another process."""

import asyncio
from collections.abc import Set
from typing import Final, Never

import aiohttp
import msgspec

from examples.rooms.meeting import (
    Acquire,
    Asked,
    Done,
    Forget,
    Join,
    Keep,
    Leave,
    Poll,
    Put,
    Refused,
    Release,
    Renew,
    Reply,
    Whole,
)
from springtide.base.clock import Clock
from springtide.edge.store import (
    Conflict,
    Denied,
    Held,
    Offer,
    StatusDamaged,
    StatusRead,
    StoreFault,
    Unreachable,
)
from springtide.edge.store.looking import Looking
from springtide.edge.store.memory import Telling
from springtide.edge.store.port import Deliver
from springtide.model.replicas.member import Member, Record
from springtide.model.replicas.values import Folder, ValueKey

ASK_S_MAX: Final = 3.0
PAUSE_S: Final = 0.2
GATHER_S: Final = 0.05
NO_VALUES: Final = "This store keeps no values of the application's own."
_DECODER: Final = msgspec.msgpack.Decoder(Reply)


class RemoteStore:
    """Asks the meeting place for everything."""

    def __init__(
        self, session: aiohttp.ClientSession, url: str, name: str, *, clock: Clock, replicas: int
    ) -> None:
        self._session = session
        self._url = url
        self._name = name
        self._clock = clock
        self._replicas = replicas
        self._member: Member | None = None

    async def follow(self, deliver: Deliver) -> Never:
        """Poll, and tell what changes."""
        telling = Telling(deliver, Looking())
        revision = wipes = -1
        while True:
            try:
                poll = Poll(member=self._member, revision=revision, wipes=wipes)
                found = await self._ask(poll)
                assert isinstance(found, Whole)
                revision, wipes = found.revision, found.wipes
                telling.tell(found, now_s=self._clock.monotonic_s())
                await asyncio.sleep(GATHER_S)
            except StoreFault as fault:
                telling.away(str(fault))
                await asyncio.sleep(PAUSE_S)

    async def join(self, member: Member) -> None:
        """Register this member."""
        self._member = member
        await self._ask(Join(member))

    async def leave(self) -> None:
        """Take this member out."""
        member, self._member = self._member, None
        if member is not None:
            await self._ask(Leave(member))

    async def acquire(self, holder: str, *, ttl_ms: int) -> Held | None:
        """Take the lock if it is free."""
        token = await self._number(Acquire(holder, ttl_ms / 1000))
        return None if token is None else Held(token)

    async def renew(self, token: int) -> None:
        """Hold the lock for another while."""
        await self._ask(Renew(token))

    async def release(self, token: int) -> None:
        """Give the lock back."""
        await self._ask(Release(token))

    async def put_status(self, offer: Offer) -> int:
        """Write the status."""
        return await self._number(Put(offer)) or 0

    async def read_status(self) -> StatusRead | StatusDamaged:
        """Return the status."""
        found = await self._ask(Poll(member=None, revision=-1, wipes=-1))
        assert isinstance(found, Whole)
        return found.status

    async def put_record(self, index: int, record: Record) -> None:
        """Write a record."""
        await self._ask(Keep(index, record))

    async def delete_record(self, index: int, boot: str) -> None:
        """Delete the record of this run."""
        await self._ask(Forget(index, boot))

    def look_at(self, folders: Set[Folder]) -> None:
        """Refuse to tell values: this service has none."""
        if folders:
            raise Denied(NO_VALUES)

    async def put_value(self, key: ValueKey, text: str) -> int:
        """Refuse to keep a value."""
        del key, text
        raise Denied(NO_VALUES)

    async def claim_index(self, index: int) -> bool:
        """Refuse to give a number away: each process is given its own."""
        del index
        raise Denied("Members of this service have numbers of their own.")

    async def set_cost(self, member: str, cost: int) -> None:
        """Do nothing: members are processes."""
        del member, cost

    async def replicas(self) -> int | None:
        """Return how many there were when this member was started."""
        return self._replicas

    async def _number(self, asked: Asked) -> int | None:
        found = await self._ask(asked)
        assert isinstance(found, Done)
        return found.number

    async def _ask(self, asked: Asked) -> Reply:
        body = msgspec.msgpack.encode(asked)
        try:
            async with asyncio.timeout(ASK_S_MAX):
                async with self._session.post(
                    self._url, data=body, headers={"member": self._name}
                ) as response:
                    said = await response.read()
        except (aiohttp.ClientError, OSError, TimeoutError) as fault:
            raise Unreachable(str(fault) or "The meeting place does not answer.") from fault
        if response.status != 200:  # noqa: PLR2004
            raise Unreachable(f"The meeting place answers {response.status}.")
        reply = _DECODER.decode(said)
        if isinstance(reply, Refused):
            raise Conflict(reply.reason, reply.why)
        return reply
