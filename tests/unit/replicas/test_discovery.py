"""Discoveries of an application's own: how they are found, what they suggest, and how they are set up again."""

import asyncio
from collections.abc import Callable
from typing import Final

import pytest
from msgspec.structs import replace

from springtide.engine.replicas.combination import Suggestion
from springtide.model.replicas.policy import Policy
from springtide.model.replicas.values import Folder, ValueKey
from springtide.replicas import Callback, Discovery
from tests.members import ROOMS, SETTINGS, Fleet, Told, fleet, seconds_until
from tests.virtual import run

MATCHES: Final = Folder(name="matches")
SESSIONS: Final = replace(ROOMS, name="sessions", up_per_replica=10, down_per_replica=5)


class Doubling:
    """A provider that wants twice as many."""

    def up(self, replicas: int | None) -> int | None:
        """Return twice as many."""
        return None if replicas is None else 2 * replicas

    def down(self, replicas: int | None) -> int | None:
        """Return as many."""
        return replicas


def with_policy(policy: Policy = SESSIONS) -> Callable[[Discovery], None]:
    """Return a setup that adds one policy."""

    def setup(discovery: Discovery) -> None:
        discovery.reset()
        discovery.add_policy(policy)

    return setup


def nothing(discovery: Discovery) -> None:
    """Set nothing up: there are only values."""
    discovery.reset()


def values_at(found: Fleet, folder: Folder = MATCHES) -> dict[str, str]:
    """Return what the site holds."""
    return found.site.values(folder)


# -- by name


def test_b_8_discoveries_are_found_by_the_name_that_they_were_made_with() -> None:
    async def work() -> None:
        async with fleet(1) as found:
            controller = found.members["chat-0"].controller
            matches = controller.create_discovery("matches", nothing)
            ranks = controller.create_discovery("ranks", nothing)
            await matches.set_value("m").durable()
            await ranks.set_value("r").durable()

            assert controller.find_discovery("matches") is matches
            assert controller.find_discovery("ranks") is ranks
            assert controller.find_discovery("rank") is None
            assert values_at(found) == {"": "m"}

    run(work())


def test_a_discovery_that_was_removed_is_not_found_and_hears_nothing() -> None:
    async def work() -> None:
        async with fleet(1) as found:
            told = Told()
            controller = found.members["chat-0"].controller
            discovery = controller.create_discovery("matches", with_policy())
            discovery.on_changed(None, told)
            await asyncio.sleep(1)

            assert controller.remove_discovery("matches")
            assert not controller.remove_discovery("matches")
            assert controller.find_discovery("matches") is None
            found.site.put_value(ValueKey(MATCHES), "8")
            await asyncio.sleep(1)
            assert told.all == []

    run(work())


@pytest.mark.parametrize("name", ["", "a/b", ".leader", "x" * 100])
def test_a_name_that_makes_no_path_is_refused(name: str) -> None:
    async def work() -> None:
        async with fleet(1) as found:
            controller = found.members["chat-0"].controller

            with pytest.raises(ValueError, match=r"write|shorten"):
                controller.create_discovery(name, nothing)
            assert controller.find_discovery(name) is None

    run(work())


# -- the suggestion


def test_a_suggestion_comes_of_its_own_policies_and_providers() -> None:
    """Covers R-13."""

    async def work() -> None:
        async with fleet(3, load=45) as found:
            controller = found.members["chat-1"].controller
            discovery = controller.create_discovery("matches", with_policy())
            plain = await discovery.suggestion()
            end = discovery.add_provider("double", Doubling())
            doubled = await discovery.suggestion()
            end()

            assert plain == Suggestion(5, 9)
            assert doubled == Suggestion(10, 10)
            assert await discovery.suggestion() == plain

    run(work())


def test_policies_are_pulled_only_while_somebody_wants_to_know() -> None:
    async def work() -> None:
        async with fleet(2, load=45) as found:
            await asyncio.sleep(120)
            discovery = found.members["chat-1"].controller.create_discovery(
                "matches", with_policy()
            )
            pull = discovery.pulls.pulls["sessions"]
            await asyncio.sleep(120)
            assert pull.came is None

            await discovery.suggestion()
            first = pull.came
            await asyncio.sleep(30)
            second = pull.came
            await asyncio.sleep(60)
            third = pull.came
            await asyncio.sleep(120)

            assert first is not None
            assert second is not first
            assert pull.came is third

            end = pull.on("instant", Callback(lambda _: None), is_active=True)
            await asyncio.sleep(60)
            assert pull.came is not third
            end()

    run(work())


def test_readiness_is_told_once_policies_were_answered_and_again_after_a_reload() -> None:
    async def work() -> None:
        async with fleet(1, load=45) as found:
            told = Told()
            found.load.total = None
            controller = found.members["chat-0"].controller
            discovery = controller.create_discovery("matches", with_policy())
            assert not discovery.is_ready
            discovery.on_ready(told)
            await seconds_until(lambda: bool(told.all))
            found.load.total = 45
            await asyncio.sleep(60)

            assert told.all == [()]
            await controller.reload(SETTINGS)
            await asyncio.sleep(30)
            assert told.all == [(), ()]

    run(work())


def test_b_7_a_reload_sets_up_anew_and_drops_what_was_before() -> None:
    async def work() -> None:
        async with fleet(1, load=45) as found:
            calls: list[str] = []

            def setup(discovery: Discovery) -> None:
                discovery.reset()
                pull = discovery.add_policy(SESSIONS)
                pull.on("instant", Callback(lambda _: calls.append("instant")), is_active=True)

            controller = found.members["chat-0"].controller
            discovery = controller.create_discovery("matches", setup)
            await asyncio.sleep(5)
            calls.clear()
            await controller.reload(SETTINGS)
            await asyncio.sleep(5)

            assert calls == ["instant"]
            assert list(discovery.pulls.pulls) == ["sessions"]

    run(work())


def test_a_setup_that_fails_at_a_reload_leaves_what_was_before() -> None:
    async def work() -> None:
        async with fleet(1, load=45) as found:
            is_broken = False

            def setup(discovery: Discovery) -> None:
                discovery.reset()
                if is_broken:
                    raise RuntimeError("no")
                discovery.add_policy(SESSIONS)

            one = found.members["chat-0"]
            discovery = one.controller.create_discovery("matches", setup)
            is_broken = True
            await one.controller.reload(SETTINGS)

            assert list(discovery.pulls.pulls) == ["sessions"]
            assert any("matches" in str(each) for each in one.lines.named("complaint"))
            with pytest.raises(RuntimeError):
                one.controller.create_discovery("ranks", setup)
            assert one.controller.find_discovery("ranks") is None

    run(work())
