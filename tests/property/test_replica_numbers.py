"""Numbers that members claim: whoever comes, goes, dies or is cut off, no two that live have one."""

import asyncio
from typing import Final

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from springtide.model.replicas.knobs import SAFE, Allocation
from tests.members import SETTINGS, Fleet
from tests.virtual import run

ALLOCATED: Final = replace(SETTINGS, knobs=replace(SAFE, allocation=Allocation.ALLOCATED))
NAMES: Final = "abcdef"
SETTLED_S: Final = 3
TURNS: Final = st.lists(
    st.tuples(
        st.sampled_from(["come", "leave", "kill", "cut", "heal", "outage", "wipe"]),
        st.sampled_from(NAMES),
        st.integers(0, 25),
    ),
    max_size=20,
)


class Watched:
    """A fleet, and the number of each that lives, as the site has it and as itself has it."""

    def __init__(self) -> None:
        self.fleet = Fleet(ALLOCATED)
        self._held: dict[str, int] = {}

    async def turn(self, what: str, name: str) -> None:
        """Let something happen."""
        one = self.fleet.members.get(name)
        match what:
            case "come" if one is None:
                await self.fleet.add(None, name=name)
            case "leave" if one is not None:
                del self.fleet.members[name]
                await one.controller.close()
            case "kill" if one is not None:
                del self.fleet.members[name]
                await one.kill()
            case "cut" | "heal" if one is not None:
                one.store.is_cut = what == "cut"
            case "outage":
                self.fleet.site.is_down = not self.fleet.site.is_down
            case "wipe":
                self.fleet.site.wipe()
                self._held = {}
            case _:
                pass

    async def wait(self, seconds: int) -> None:
        """Let time go by, and look ten times a second."""
        for _ in range(10 * seconds):
            await asyncio.sleep(0.1)
            self.look()

    def look(self) -> None:
        """Check that whoever lives keeps the number that it has."""
        holders = self.fleet.site.numbers
        held = {name: index for index, name in holders.items()}
        assert len(held) == len(holders)
        living = {each.name for each in self.fleet.site.members}
        assert held.keys() <= living
        for name, index in self._held.items():
            if name in held and self._is_in_touch(name):
                assert held[name] == index
        self._held = held

    def _is_in_touch(self, name: str) -> bool:
        """Return whether a member reaches the site."""
        one = self.fleet.members.get(name)
        return one is not None and not one.store.is_cut and not self.fleet.site.is_down


@settings(max_examples=60, deadline=None)
@given(TURNS)
def test_no_two_living_members_have_one_number_and_none_moves(
    turns: list[tuple[str, str, int]],
) -> None:
    """Covers R-33. B-17."""

    async def work() -> None:
        watched = Watched()
        for what, name, seconds in turns:
            await watched.turn(what, name)
            await watched.wait(seconds)
        watched.fleet.site.is_down = False
        for each in watched.fleet.members.values():
            each.store.is_cut = False
        await watched.wait(40 + SETTLED_S)

        members = watched.fleet.members
        own = {name: each.controller.snapshot().index for name, each in members.items()}
        living = {name: index for index, name in watched.fleet.site.numbers.items() if name in own}
        assert own == living
        assert len(set(own.values())) == len(own)
        await watched.fleet.close()

    run(work())
