"""Values of the application's own in a store, held to each implementation."""

import asyncio

import pytest

from springtide.edge.store import (
    Away,
    Confirmed,
    Oversized,
    Store,
    StoreFault,
    Unreachable,
    ValuesRead,
)
from springtide.model.replicas.values import VALUE_BYTES_MAX, VALUES_MAX, Folder, ValueKey
from tests.contract.stores import Play, Site, following, repeats

ROOMS = Folder(name="rooms")
SIBLING = Folder(name="rooms2")
ALL = Folder(name="regions", has_target=False)
LIMIT = ValueKey(ROOMS, "eu/limit")


def texts(read: ValuesRead, folder: Folder = ROOMS) -> dict[str, str] | None:
    """Return what lies in a folder, None if it is not told."""
    return read.values.get(folder)


def test_nothing_is_told_of_values_that_nobody_looks_at(play: Play) -> None:
    async def scene(site: Site) -> None:
        a, b = await site.store("chat-0"), await site.store("chat-1")
        async with following(site, a) as heard:
            await b.put_value(LIMIT, "8")
            await heard.hears(Confirmed)

            assert heard.all(ValuesRead) == []

    play(scene)


def test_values_are_seen_by_others_with_what_was_there_before(play: Play) -> None:
    """Covers R-51. What is returned is a revision, and later ones are larger."""

    async def scene(site: Site) -> None:
        a, b = await site.store("chat-0"), await site.store("chat-1")
        first = await b.put_value(ValueKey(ROOMS), "whole")
        async with following(site, a) as heard:
            await heard.hears(Confirmed)
            a.look_at({ROOMS})
            await heard.settles(ValuesRead, lambda read: texts(read) == {"": "whole"})
            second = await b.put_value(LIMIT, "8 of 10_ä\n")
            await heard.settles(
                ValuesRead, lambda read: texts(read) == {"": "whole", "eu/limit": "8 of 10_ä\n"}
            )

            assert 0 < first < second
            assert repeats(heard) == []

    play(scene)


def test_a_value_that_is_deleted_is_not_there_any_more(play: Play) -> None:
    async def scene(site: Site) -> None:
        a, b = await site.store("chat-0"), await site.store("chat-1")
        a.look_at({ROOMS})
        async with following(site, a) as heard:
            await b.put_value(LIMIT, "8")
            await heard.settles(ValuesRead, lambda read: texts(read) == {"eu/limit": "8"})
            await b.put_value(LIMIT, "")
            await heard.settles(ValuesRead, lambda read: texts(read) == {})
            await b.put_value(LIMIT, "")

    play(scene)


def test_folders_with_longer_names_and_other_domains_are_others(play: Play) -> None:
    async def scene(site: Site) -> None:
        store = await site.store("chat-0")
        other = Folder(name="rooms", domain="matches")
        store.look_at({ROOMS, SIBLING, other})
        async with following(site, store) as heard:
            for number, folder in enumerate((ROOMS, SIBLING, other)):
                await store.put_value(ValueKey(folder, "a"), str(number))
            told = await heard.settles(ValuesRead, lambda read: bool(texts(read, other)))

            assert [texts(told, each) for each in (ROOMS, SIBLING, other)] == [
                {"a": "0"},
                {"a": "1"},
                {"a": "2"},
            ]

    play(scene)


def test_what_is_looked_at_may_become_something_else(play: Play) -> None:
    async def scene(site: Site) -> None:
        store = await site.store("chat-0")
        await store.put_value(LIMIT, "8")
        await store.put_value(ValueKey(SIBLING), "2")
        async with following(site, store) as heard:
            for folders, whole in (
                ({ROOMS}, {ROOMS: {"eu/limit": "8"}}),
                ({ROOMS, SIBLING}, {ROOMS: {"eu/limit": "8"}, SIBLING: {"": "2"}}),
                ({SIBLING}, {SIBLING: {"": "2"}}),
            ):
                store.look_at(folders)
                await heard.settles(ValuesRead, ValuesRead(whole).__eq__)
            mark = heard.mark
            await heard.hears(Confirmed, since=mark)

            assert heard.all(Away) == []

    play(scene)


def test_values_of_all_workloads_lie_elsewhere(play: Play) -> None:
    async def scene(site: Site) -> None:
        if not site.traits.has_leases:
            pytest.skip("a ConfigMap of values belongs to one workload")
        store = await site.store("chat-0")
        shared = Folder(name="regions", has_target=False)
        store.look_at({shared, Folder(name="regions")})
        async with following(site, store) as heard:
            await store.put_value(ValueKey(shared), "all")
            told = await heard.settles(ValuesRead, lambda read: bool(texts(read, shared)))

            assert told.values == {shared: {"": "all"}, Folder(name="regions"): {}}

    play(scene)


@pytest.mark.parametrize(
    ("key", "text"),
    [
        (LIMIT, "x" * (VALUE_BYTES_MAX + 1)),
        (ValueKey(ROOMS, "x" * 100), "8"),
        (ValueKey(ROOMS, "../status"), "8"),
        (ValueKey(Folder(name="a/b")), "8"),
    ],
)
def test_what_is_too_long_or_has_no_name_is_not_written(
    play: Play, key: ValueKey, text: str
) -> None:
    async def scene(site: Site) -> None:
        store = await site.store("chat-0")
        before = await site.writes()

        with pytest.raises(Oversized):
            await store.put_value(key, text)
        assert await site.writes() == before

    play(scene)


def test_a_folder_takes_so_many_values_and_no_more(play: Play) -> None:
    async def scene(site: Site) -> None:
        store = await site.store("chat-0")
        for number in range(VALUES_MAX):
            await store.put_value(ValueKey(ROOMS, str(number)), "1")

        with pytest.raises(Oversized, match="delete one"):
            await store.put_value(ValueKey(ROOMS, "more"), "1")
        await store.put_value(ValueKey(ROOMS, "0"), "2")
        await store.put_value(ValueKey(ROOMS, "1"), "")
        await store.put_value(ValueKey(ROOMS, "more"), "1")

    play(scene)


def test_a_value_is_told_as_it_grows_and_never_goes_back(play: Play) -> None:
    """Covers R-52."""

    async def scene(site: Site) -> None:
        a, b = await site.store("chat-0"), await site.store("chat-1")
        a.look_at({ROOMS})
        async with following(site, a) as heard:
            revisions = [await b.put_value(LIMIT, str(number)) for number in range(1, 10)]
            await heard.settles(ValuesRead, lambda read: texts(read) == {"eu/limit": "9"})

            seen = [int((texts(each) or {}).get("eu/limit", 0)) for each in heard.all(ValuesRead)]
            assert seen == sorted(seen)
            assert revisions == sorted(set(revisions))

    play(scene)


def test_who_missed_values_that_were_forgotten_meanwhile_reads_all_anew(play: Play) -> None:
    """Covers R-52. F-19."""

    async def scene(site: Site) -> None:
        a, b = await site.store("chat-0"), await site.store("chat-1")
        a.look_at({ROOMS})
        async with following(site, a) as heard:
            for subkey in ("gone", "kept", "grown"):
                await b.put_value(ValueKey(ROOMS, subkey), "1")
            await heard.settles(ValuesRead, lambda read: len(texts(read) or {}) == 3)
            await site.cut("chat-0")
            await heard.hears(Away)
            mark = heard.mark
            await b.put_value(ValueKey(ROOMS, "gone"), "")
            for number in range(2, 6):
                await b.put_value(ValueKey(ROOMS, "grown"), str(number))
            await site.compact()
            await site.heal("chat-0")
            await heard.hears(Confirmed, since=mark)

            assert [texts(each) for each in heard.all(ValuesRead, since=mark)] == [
                {"kept": "1", "grown": "5"}
            ]

    play(scene)


def test_a_store_that_lost_everything_tells_values_as_gone(play: Play) -> None:
    """F-18."""

    async def scene(site: Site) -> None:
        store = await site.store("chat-0")
        store.look_at({ROOMS})
        async with following(site, store) as heard:
            await store.put_value(LIMIT, "8")
            await heard.settles(ValuesRead, lambda read: texts(read) == {"eu/limit": "8"})
            await site.wipe()
            await heard.settles(ValuesRead, lambda read: texts(read) == {})
            await _written(store, LIMIT, "9")
            await heard.settles(ValuesRead, lambda read: texts(read) == {"eu/limit": "9"})

    play(scene)


def test_a_value_that_does_not_come_through_is_not_called_written(play: Play) -> None:
    """Covers R-51."""

    async def scene(site: Site) -> None:
        store = await site.store("chat-0")
        await site.cut("chat-0")

        with pytest.raises(Unreachable):
            await store.put_value(LIMIT, "8")

    play(scene)


async def _written(store: Store, key: ValueKey, text: str) -> None:
    """Write as soon as the server is there again."""
    for _ in range(50):
        try:
            await store.put_value(key, text)
        except StoreFault:
            await asyncio.sleep(0.2)
        else:
            return
    raise AssertionError("it was never written")
