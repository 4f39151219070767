"""Where members of several processes meet where there is no etcd: a site in memory, behind HTTP.

It is for demonstrations on one machine. Members poll it: each poll keeps a member alive, waits for a change,
and takes the whole of what there is.
"""

from typing import Final, TypeAlias, assert_never

import msgspec
from aiohttp import web

from springtide.edge.store import (
    Conflict,
    LockRead,
    MemorySite,
    Offer,
    StatusDamaged,
    StatusRead,
)
from springtide.model.replicas.member import Member, Record
from springtide.model.replicas.values import Folder

POLL_S_MAX: Final = 1.0


class Poll(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Keep this member alive, and tell what there is when it is not what was told last."""

    member: Member | None
    revision: int
    wipes: int


class Join(msgspec.Struct, frozen=True, tag=True):
    """Register a member."""

    member: Member


class Leave(msgspec.Struct, frozen=True, tag=True):
    """Take it out."""

    member: Member


class Acquire(msgspec.Struct, frozen=True, tag=True):
    """Take the lock."""

    holder: str
    ttl_s: float


class Renew(msgspec.Struct, frozen=True, tag=True):
    """Keep it."""

    token: int


class Release(msgspec.Struct, frozen=True, tag=True):
    """Give it back."""

    token: int


class Put(msgspec.Struct, frozen=True, tag=True):
    """Write the status."""

    offer: Offer


class Keep(msgspec.Struct, frozen=True, tag=True):
    """Write a record."""

    index: int
    record: Record


class Forget(msgspec.Struct, frozen=True, tag=True):
    """Delete the record of a run."""

    index: int
    boot: str


Asked: TypeAlias = Poll | Join | Leave | Acquire | Renew | Release | Put | Keep | Forget


class Whole(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """All there is."""

    status: StatusRead | StatusDamaged
    members: tuple[Member, ...]
    records: dict[int, Record]
    lock: LockRead
    revision: int
    wipes: int

    @property
    def numbers(self) -> dict[int, str]:
        """Return who claimed a number: nobody, as each process is given its own."""
        return {}

    def values(self, folder: Folder) -> dict[str, str]:
        """Return what lies in a folder of the application's own: nothing."""
        del folder
        return {}


class Done(msgspec.Struct, frozen=True, tag=True):
    """It was done; a number if there is one to tell."""

    number: int | None = None


class Refused(msgspec.Struct, frozen=True, tag=True):
    """A conflict."""

    reason: str
    why: str


Reply: TypeAlias = Whole | Done | Refused


class Meeting:
    """Serves a site."""

    def __init__(self, site: MemorySite) -> None:
        self.site = site
        self.cut: set[str] = set()
        """Members that do not reach it, by name."""
        self._decoder = msgspec.msgpack.Decoder(Asked)

    async def serve(self, request: web.Request) -> web.Response:
        """Answer one request; members that are cut off are told 503."""
        if self.site.is_down or request.headers.get("member") in self.cut:
            return web.Response(status=503)
        try:
            reply = await self._answer(self._decoder.decode(await request.read()))
        except Conflict as fault:
            reply = Refused(fault.reason, str(fault))
        return web.Response(body=msgspec.msgpack.encode(reply))

    async def _answer(self, asked: Asked) -> Reply:
        site = self.site
        match asked:
            case Poll():
                return await self._poll(asked)
            case Join(member=member):
                site.enter(member)
            case Leave(member=member):
                site.remove(member)
            case Acquire(holder=holder, ttl_s=ttl_s):
                held = site.take(holder, ttl_s=ttl_s)
                return Done(held.token if held is not None else None)
            case Renew(token=token):
                site.renew(token)
            case Release(token=token):
                site.release(token)
            case Put(offer=offer):
                return Done(site.put(offer))
            case Keep(index=index, record=record):
                site.record(index, record)
            case Forget(index=index, boot=boot):
                self._forget(index, boot)
            case _:
                assert_never(asked)
        return Done()

    def _forget(self, index: int, boot: str) -> None:
        kept = self.site.records.get(index)
        if kept is not None and kept.boot == boot:
            self.site.record(index, None)

    async def _poll(self, asked: Poll) -> Whole:
        site = self.site
        if asked.member is not None:
            site.enter(asked.member)
        if (site.revision, site.wipes) == (asked.revision, asked.wipes):
            await site.changed(timeout_s=POLL_S_MAX)
        return Whole(
            status=site.status,
            members=site.members,
            records=dict(site.records),
            lock=site.lock,
            revision=site.revision,
            wipes=site.wipes,
        )
