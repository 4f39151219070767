"""One piece of work in a process of its own: its answer, and what is said where there is none."""

import asyncio
from collections.abc import Iterator

import pytest

from springtide.edge.aside import AsideFault, performed

ECHO = "json.tool"


def test_what_it_is_fed_in_pieces_is_answered_as_a_whole() -> None:
    answer = asyncio.run(performed(ECHO, (b'{"a"', b": 1}"), time_s_max=20))

    assert answer.split() == [b"{", b'"a":', b"1", b"}"]


def test_others_have_their_turn_between_the_pieces() -> None:
    turns = []

    async def look() -> None:
        while True:
            turns.append(len(pieces_made))
            await asyncio.sleep(0)

    pieces_made: list[int] = []

    def pieces() -> Iterator[bytes]:
        yield b"["
        for each in range(100):
            pieces_made.append(each)
            yield b"0,"
        yield b"0]"

    async def work() -> None:
        looking = asyncio.create_task(look())
        await performed(ECHO, pieces(), time_s_max=20)
        looking.cancel()

    asyncio.run(work())

    assert len({each for each in turns if 0 < each < 100}) > 90


@pytest.mark.parametrize(
    ("module", "sentence"), [("no.such.module", "ended with 1"), (ECHO, "ended with 1")]
)
def test_one_that_fails_is_told_by_its_code(module: str, sentence: str) -> None:
    with pytest.raises(AsideFault, match=sentence):
        asyncio.run(performed(module, (b"{",), time_s_max=20))


def test_one_that_takes_too_long_is_ended() -> None:
    def for_ever() -> Iterator[bytes]:
        while True:
            yield b" "

    with pytest.raises(AsideFault, match=r"no answer within 0\.3 s"):
        asyncio.run(performed(ECHO, for_ever(), time_s_max=0.3))
