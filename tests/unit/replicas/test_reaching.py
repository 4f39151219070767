"""Whether owners of state reach each other."""

import asyncio

from msgspec.structs import replace

from springtide.model.replicas.member import Member
from springtide.replicas.reaching import Reaching
from tests.virtual import run

MEMBERS = tuple(Member(id=0, name=f"chat-{each}", is_target=True) for each in range(3))


async def _answer(member: Member) -> bool:
    if member.name == "chat-1":
        await asyncio.sleep(3_600)
    if member.name == "chat-2":
        raise ConnectionError
    return True


def test_one_that_answers_is_enough_and_the_others_are_named() -> None:
    reaching = Reaching("new", _answer)

    assert run(reaching.check(MEMBERS))
    assert reaching.unreached == ("chat-1", "chat-2")


def test_whoever_reaches_nobody_of_several_is_not_ready() -> None:
    """Covers R-27 in part."""
    reaching = Reaching("chat-0", _answer)

    assert not run(reaching.check(MEMBERS))


def test_whoever_is_alone_or_waits_for_those_who_leave_is_ready() -> None:
    leaving = [replace(each, is_target=False) for each in MEMBERS]

    assert run(Reaching("chat-0", _answer).check(MEMBERS[:1]))
    assert run(Reaching("new", _answer).check(leaving))


def test_more_may_be_asked_for_than_one() -> None:
    reaching = Reaching("new", _answer)

    assert not run(reaching.check(MEMBERS, least=2))
