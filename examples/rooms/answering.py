"""Answers users and other members: serves the rooms that are here, and finds those that are not."""

import asyncio
from typing import Final, assert_never

from msgspec.structs import replace

from examples.rooms.book import Changed, Created, Expecting, Refused
from examples.rooms.holding import Holding
from examples.rooms.messages import (
    Answer,
    Count,
    Counted,
    FromUser,
    Give,
    Later,
    Look,
    Means,
    Message,
    Never,
    No,
    NotFound,
    Offer,
    Open,
    Say,
    Shown,
    Where,
    Yes,
)
from examples.rooms.placing import owner, target_count
from examples.rooms.room import Room
from examples.rooms.world import Peers, Unreached
from springtide.model.replicas.member import Member
from springtide.replicas import ReplicaController
from springtide.replicas.forwarding import Forward, Forwarding, Serve, Unavailable
from springtide.replicas.ownership import owner_of

MOVE_S_MAX: Final = 2.0
"""So long does a request wait for a room that is on its way."""
FORWARD_S_MAX: Final = 4.0
SEARCH_S_MAX: Final = 1.0
DRAWS_MAX: Final = 200
"""So many names are tried for a new room, until one belongs where it is opened."""
_RETRY_S: Final = 1


class Answering:
    """One member's answers."""

    def __init__(self, controller: ReplicaController, holding: Holding, peers: Peers) -> None:
        self._controller = controller
        self._holding = holding
        self._peers = peers
        self._name = controller.snapshot().name
        self._forwarding = Forwarding(name=self._name)

    async def answer(self, message: Message) -> Answer:
        """Return the answer to anybody."""
        match message:
            case Open() | Say() | Look():
                with self._holding.requests:
                    return await self._user(message)
            case Offer():
                return self._offered(message)
            case Give():
                return self._given(message)
            case Means(room=room, to=to):
                means = self._holding.book.giving.get(room) == to
                return Yes() if means or (room, to) in self._holding.offering else No()
            case Where(room=room):
                return self._where(room)
            case Count():
                book = self._holding.book
                return Counted(people=book.people, rooms=len(book.rooms))
            case _:
                assert_never(message)

    # -- users

    async def _user(self, message: FromUser) -> Answer:
        if isinstance(message, Open):
            return await self._open(message)
        book = self._holding.book
        if message.room in book.giving:
            await self._holding.moved(timeout_s=MOVE_S_MAX)
        if book.accepts_writes(message.room):
            return self._serve(message)
        if message.room in book.giving:
            return Later(retry_after_s=_RETRY_S, why=f"{message.room} is on its way.")
        return await self._elsewhere(message)

    def _serve(self, message: Say | Look) -> Answer:
        if isinstance(message, Say):
            self._holding.write(Changed(message.room, message.text, message.people))
        return Shown(room=self._holding.book.rooms[message.room], by=self._name)

    async def _open(self, message: Open) -> Answer:
        snapshot = self._controller.snapshot()
        count = target_count(snapshot)
        if self._takes_rooms() and count > 0:
            name = self._new_name(snapshot.index or 0, count)
            self._holding.write(Created(Room(id=name, people=message.people)))
            return Shown(room=self._holding.book.rooms[name], by=self._name)
        found = self._forwarding.decide(
            self._name, holds=False, hops=message.hops, count=count, members=snapshot.members
        )
        return await self._follow(message, found)

    def _new_name(self, index: int, count: int) -> str:
        """Return a name that nobody else gives, of a room that belongs here if there is such a one."""
        start = self._holding.book.created
        names = [f"{self._name}.{start}.{draw}" for draw in range(DRAWS_MAX)]
        return next((each for each in names if owner_of(each, count) == index), names[0])

    async def _elsewhere(self, message: Say | Look) -> Answer:
        snapshot = self._controller.snapshot()
        found = self._forwarding.decide(
            message.room,
            holds=False,
            hops=message.hops,
            count=target_count(snapshot),
            members=snapshot.members,
            given_to=self._holding.book.gone.get(message.room, ""),
        )
        if isinstance(found, Unavailable) and message.hops < self._forwarding.hops_max:
            return await self._search(message, snapshot.members)
        return await self._follow(message, found)

    async def _search(self, message: Say | Look, members: tuple[Member, ...]) -> Answer:
        """Ask everybody: a room whose owner is not there is still where it was."""
        others = [each for each in members if each.name != self._name]
        answers = await asyncio.gather(
            *(self._asked(each, Where(room=message.room), SEARCH_S_MAX) for each in others)
        )
        for member, answer in zip(others, answers, strict=True):
            if isinstance(answer, Yes):
                return await self._follow(message, Forward(member, message.hops + 1))
        if any(isinstance(each, Never) for each in (*answers, self._where(message.room))):
            return NotFound(room=message.room)
        heard = 1 + sum(isinstance(each, No) for each in answers)
        why = f"{heard} members were asked, and none has {message.room}."
        return Later(retry_after_s=_RETRY_S, why=why)

    def _where(self, room: str) -> Answer:
        book = self._holding.book
        if room in book.rooms:
            return Yes()
        return Never() if book.was_never_created(room, by=self._name) else No()

    async def _follow(self, message: FromUser, found: Serve | Forward | Unavailable) -> Answer:
        match found:
            case Forward(member=member, hops=hops):
                passed = replace(message, hops=hops)
                return await self._asked(member, passed, FORWARD_S_MAX)
            case Unavailable(retry_after_s=retry_after_s, why=why):
                return Later(retry_after_s=retry_after_s, why=why)
            case Serve():
                raise AssertionError("what is here is not forwarded")
            case _:
                assert_never(found)

    async def _asked(self, member: Member, message: Message, timeout_s: float) -> Answer:
        try:
            return await self._peers.ask(member.address, message, timeout_s=timeout_s)
        except Unreached as fault:
            return Later(retry_after_s=_RETRY_S, why=f"{member.name} does not answer: {fault}")

    # -- members

    def _takes_rooms(self) -> bool:
        """Return whether rooms may begin to live here: where a record protects them, and not while leaving."""
        return self._controller.is_target() and self._controller.is_ready()

    def _offered(self, message: Offer) -> Answer:
        """Promise to take a room, if it belongs here."""
        if not self._takes_rooms() or owner(
            message.room, self._controller.snapshot(), is_target=True
        ):
            return No(f"{self._name} takes no such room.")
        if message.room in self._holding.book.rooms:
            return No(f"{message.room} is here.")
        if self._holding.book.expecting.get(message.room) != message.giver:
            self._holding.write(Expecting(message.room, message.giver))
        return Yes()

    def _given(self, message: Give) -> Answer:
        room, book = message.room, self._holding.book
        line = book.answer_to(room, message.giver)
        if line is not None:
            self._holding.write(line)
        is_refused = isinstance(line, Refused) or book.refused.get(room.id) == room.version
        return No(f"{room.id} was not expected.") if is_refused else Yes()
