"""Values of a discovery: set, written one after the other, and told to whoever listens."""

import asyncio
from typing import Final

import pytest

from springtide.edge.store import Conflict, Oversized, Unreachable
from springtide.model.replicas.values import VALUE_BYTES_MAX, Folder, ValueKey
from springtide.replicas import REPLACED, Discovery
from tests.members import SETTINGS, Fleet, Told, fleet
from tests.virtual import run

MATCHES: Final = Folder(name="matches")


def nothing(discovery: Discovery) -> None:
    """Set nothing up: there are only values."""
    discovery.reset()


def values_at(found: Fleet) -> dict[str, str]:
    """Return what the site holds."""
    return found.site.values(MATCHES)


def test_a_value_is_started_at_once_and_durable_with_its_revision() -> None:
    """Covers R-51."""

    async def work() -> None:
        async with fleet(1) as found:
            discovery = found.members["chat-0"].controller.create_discovery("matches", nothing)
            write = discovery.set_value("8", "eu/limit")

            assert not write.is_done
            assert values_at(found) == {}
            revision = await write.durable()
            assert values_at(found) == {"eu/limit": "8"}
            assert 0 < revision <= found.site.revision

    run(work())


def test_a_newer_value_takes_the_place_of_one_that_waits() -> None:
    """Covers R-51."""

    async def work() -> None:
        async with fleet(1) as found:
            discovery = found.members["chat-0"].controller.create_discovery("matches", nothing)
            old, other, new = (
                discovery.set_value("1"),
                discovery.set_value("x", "other"),
                discovery.set_value("2"),
            )
            with pytest.raises(Conflict) as caught:
                await old.durable()
            await new.durable()
            await other.durable()

            assert caught.value.reason == REPLACED
            assert values_at(found) == {"": "2", "other": "x"}

    run(work())


def test_values_of_one_key_are_written_in_the_order_in_which_they_were_set() -> None:
    """Covers R-52 in part."""

    async def work() -> None:
        async with fleet(2) as found:
            told = Told()
            ours, theirs = (each.controller for each in found.members.values())
            theirs.create_discovery("matches", nothing).on_changed("", told)
            discovery = ours.create_discovery("matches", nothing)
            for number in range(5):
                await discovery.set_value(str(number)).durable()
                await asyncio.sleep(1)

            assert told.all == [("", str(number)) for number in range(5)]

    run(work())


def test_a_value_that_the_store_does_not_take_is_not_called_durable() -> None:
    """Covers R-51."""

    async def work() -> None:
        async with fleet(1) as found:
            one = found.members["chat-0"]
            discovery = one.controller.create_discovery("matches", nothing)
            one.store.is_cut = True

            with pytest.raises(Unreachable):
                await discovery.set_value("8").durable()
            assert values_at(found) == {}

    run(work())


def test_what_waits_when_the_controller_ends_says_so() -> None:
    """Covers R-51."""

    async def work() -> None:
        found = Fleet()
        one = await found.add(1)
        discovery = one.controller.create_discovery("matches", nothing)
        waiting = discovery.set_value("8")
        await one.controller.close()
        late = discovery.set_value("9")

        for write in (waiting, late):
            with pytest.raises(Unreachable, match="ended"):
                await write.durable()

    run(work())


@pytest.mark.parametrize(("subkey", "text"), [("", "x" * (VALUE_BYTES_MAX + 1)), ("..", "8")])
def test_a_value_that_no_store_takes_is_not_started(subkey: str, text: str) -> None:
    async def work() -> None:
        async with fleet(1) as found:
            discovery = found.members["chat-0"].controller.create_discovery("matches", nothing)

            with pytest.raises(Oversized):
                discovery.set_value(text, subkey)

    run(work())


def test_listeners_are_told_what_there_is_what_changes_and_what_is_deleted() -> None:
    async def work() -> None:
        async with fleet(1) as found:
            found.site.put_value(ValueKey(MATCHES, "eu"), "1")
            every, one = Told(), Told()
            discovery = found.members["chat-0"].controller.create_discovery("matches", nothing)
            discovery.on_changed(None, every)
            discovery.on_changed("us", one)
            await asyncio.sleep(1)
            found.site.put_value(ValueKey(MATCHES, "us"), "2")
            await asyncio.sleep(1)
            found.site.put_value(ValueKey(MATCHES, "eu"), "")
            await asyncio.sleep(1)

            assert every.all == [("eu", "1"), ("us", "2"), ("eu", "")]
            assert one.all == [("us", "2")]
            assert discovery.values == {"us": "2"}

    run(work())


def test_the_same_listener_is_told_once_however_often_it_is_given() -> None:
    async def work() -> None:
        async with fleet(1) as found:
            told = Told()
            controller = found.members["chat-0"].controller

            def setup(discovery: Discovery) -> None:
                discovery.reset()
                discovery.on_changed(None, told)

            discovery = controller.create_discovery("matches", setup)
            await controller.reload(SETTINGS)
            await discovery.set_value("8").durable()
            await asyncio.sleep(1)

            assert told.all == [("", "8")]

    run(work())


def test_a_listener_that_ended_hears_nothing_and_one_that_raises_stops_nobody() -> None:
    async def work() -> None:
        async with fleet(1) as found:

            def broken(subkey: str, text: str) -> None:
                raise RuntimeError(f"{subkey} {text}")

            ended, told = Told(), Told()
            one = found.members["chat-0"]
            discovery = one.controller.create_discovery("matches", nothing)
            discovery.on_changed(None, broken)
            discovery.on_changed(None, ended)()
            discovery.on_changed(None, told)
            await discovery.set_value("8").durable()
            await asyncio.sleep(1)

            assert (ended.all, told.all) == ([], [("", "8")])
            assert one.lines.named("listener_failed")

    run(work())


def test_a_discovery_that_watches_its_own_value_hears_of_no_other() -> None:
    async def work() -> None:
        async with fleet(1) as found:
            told = Told()
            discovery = found.members["chat-0"].controller.create_discovery("matches", nothing)
            discovery.watch("own")
            discovery.on_changed(None, told)
            for subkey in ("", "eu"):
                await discovery.set_value("8", subkey).durable()
            await asyncio.sleep(1)

            assert told.all == [("", "8")]

    run(work())


def test_b_9_a_discovery_goes_to_another_path_without_a_gap() -> None:
    """B-8 and B-9."""

    async def work() -> None:
        async with fleet(1) as found:
            other = Folder(name="matches", domain="arena", has_target=False)
            for folder, texts in ((MATCHES, {"a": "1", "b": "2"}), (other, {"a": "1", "c": "3"})):
                for subkey, text in texts.items():
                    found.site.put_value(ValueKey(folder, subkey), text)
            told = Told()
            controller = found.members["chat-0"].controller
            discovery = controller.create_discovery("matches", nothing)
            discovery.on_changed(None, told)
            await asyncio.sleep(1)
            told.all.clear()
            again = controller.create_discovery(
                "matches", nothing, domain="arena", with_target=False
            )
            between = again.values
            await asyncio.sleep(1)

            assert again is discovery
            assert between == {"a": "1", "b": "2"}
            assert told.all == [("b", ""), ("c", "3")]
            assert discovery.values == {"a": "1", "c": "3"}

    run(work())


def test_values_that_were_missed_while_the_store_was_away_are_told_and_others_not_again() -> None:
    """Covers R-52 in part."""

    async def work() -> None:
        async with fleet(1) as found:
            told = Told()
            discovery = found.members["chat-0"].controller.create_discovery("matches", nothing)
            discovery.on_changed(None, told)
            for subkey in ("a", "b"):
                await discovery.set_value("1", subkey).durable()
            await asyncio.sleep(1)
            found.members["chat-0"].store.is_cut = True
            await asyncio.sleep(1)
            told.all.clear()
            found.site.put_value(ValueKey(MATCHES, "a"), "2")
            await asyncio.sleep(30)
            found.members["chat-0"].store.is_cut = False
            await asyncio.sleep(5)

            assert told.all == [("a", "2")]

    run(work())
