"""Faults of §5's table on whole controllers, in virtual time: what may fail fails, and nobody is sent away.

No scale-in means that the expected number, the floor and the labels of no member fall while the fault lasts.
The same rows on real processes are in tests/e2e.
"""

import asyncio
from typing import Final

import pytest
from msgspec.structs import replace

from springtide.edge.store import Offer
from springtide.model.replicas.answer import Answer, Answered, HttpFailed, Unreachable
from springtide.model.replicas.rules import Schedule
from springtide.model.replicas.status import Status
from tests.members import (
    SETTINGS,
    Fleet,
    One,
    fleet,
    seconds_until,
    status_of,
    until,
)
from tests.virtual import run

QUICK: Final = replace(
    SETTINGS, schedule=Schedule(start_delay_ms=2_000, period_ms=2_000, scaling_delay_ms=2_000)
)


def expected(found: Fleet) -> list[int | None]:
    """Return what every member shows."""
    return [each.controller.snapshot().expected for each in found.members.values()]


def generation(found: Fleet) -> int:
    """Return the stored generation."""
    status = status_of(found)
    return 0 if status is None else status.generation


def complaints(one: One) -> list[str]:
    """Return what a member complained of."""
    return [str(each["message"]) for each in one.lines.named("complaint")]


async def settled(found: Fleet) -> None:
    """Wait until everybody serves and a first status stands."""
    await seconds_until(lambda: all(each.labels == (True, True) for each in found.members.values()))
    await seconds_until(lambda: status_of(found) is not None)


@pytest.mark.parametrize(
    "answer", [Unreachable("refused"), HttpFailed(502), Answered(series=())], ids=["a", "b", "c"]
)
def test_f_1_without_prometheus_nothing_moves_and_it_is_asked_again_soon(answer: Answer) -> None:
    """Covers R-12, R-46."""

    async def work() -> None:
        async with fleet(4, QUICK, load=350) as found:
            await settled(found)
            found.load.answer_with, found.load.total = answer, 10
            before = found.load.asked
            await asyncio.sleep(600)
            asked = found.load.asked - before
            held = status_of(found)
            found.load.answer_with = None
            waited_s = await seconds_until(lambda: status_of(found) != held)

            assert held is not None
            assert held.expect == 4
            assert asked >= (100 if isinstance(answer, Unreachable | HttpFailed) else 29)
            assert waited_s >= 59

    run(work())


def test_f_2_old_data_never_shrink() -> None:
    async def work() -> None:
        async with fleet(4, QUICK, load=350) as found:
            await settled(found)
            found.load.age_s, found.load.total = 90, 10
            await asyncio.sleep(400)

            assert expected(found) == [4] * 4
            (shown,) = found.members["chat-0"].controller.snapshot().policies
            assert shown.down_unknown == "stale"

    run(work())


def test_f_3_missing_members_never_shrink_and_may_still_grow() -> None:
    async def work() -> None:
        async with fleet(4, QUICK, load=350) as found:
            await settled(found)
            # Members count only after their warm-up.
            await asyncio.sleep(60)
            found.load.reporting, found.load.total = 3, 10
            await asyncio.sleep(300)
            held = expected(found)
            found.load.total = 550
            await until(found, 6)

            assert held == [4] * 4

    run(work())


def test_f_6_a_paused_leader_that_wakes_up_writes_nothing() -> None:
    """Covers R-47 and R-55: of two who believe that they lead, the store believes one."""

    async def work() -> None:
        async with fleet(3, QUICK, load=250) as found:
            await settled(found)
            before = generation(found)
            old = found.members["chat-0"]
            token = found.site.lock.token
            old.store.is_cut = True
            await seconds_until(lambda: found.leaders == ["chat-1"], limit_s=20)
            found.load.total = 550
            await until(found, 6)
            written = status_of(found)
            old.store.is_cut = False
            assert written is not None
            with pytest.raises(Exception, match="Deposed"):
                await old.store.put_status(
                    Offer(token=token, revision=found.site.status.revision, status=written)
                )
            await asyncio.sleep(60)

            assert found.leaders == ["chat-1"]
            assert generation(found) == before + 1

    run(work())


def test_f_8_a_leader_without_its_store_stops_and_keeps_its_labels() -> None:
    async def work() -> None:
        async with fleet(3, QUICK, load=250) as found:
            await settled(found)
            old = found.members["chat-0"]
            old.store.is_cut = True
            waited_s = await seconds_until(lambda: not old.controller.is_leader(), limit_s=15)
            shown_soon = old.controller.snapshot().expected
            await asyncio.sleep(70)

            assert waited_s <= 10.5
            assert old.labels == (True, True)
            assert shown_soon == 3
            # What it knows is too old to be shown to anybody by now.
            assert old.controller.snapshot().expected is None

    run(work())


def test_f_9_a_skewed_clock_moves_a_label_and_never_state() -> None:
    """Covers R-28: with F-8, F-14 and F-23, the four of it."""

    async def work() -> None:
        found = Fleet(load=250)
        for index in (1, 2):
            await found.add(index)
        last = await found.add(3, offset_s=20)
        await settled(found)
        found.load.total = 100
        await until(found, 2)
        status = status_of(found)
        assert status is not None
        await seconds_until(lambda: last.labels == (False, True))
        early_s = status.start_ms / 1000 - found.members["chat-0"].calendar.unix_s()
        await asyncio.sleep(300)

        assert 18 <= early_s <= 21
        assert last.labels == (False, True)
        await found.close()

    run(work())


def test_f_9_a_leader_whose_clock_is_far_off_knows_that_it_knows_nothing() -> None:
    async def work() -> None:
        found = Fleet(QUICK, load=10)
        one = await found.add(1, offset_s=40)
        await found.add(2)
        await settled(found)
        await asyncio.sleep(300)
        (shown,) = one.controller.snapshot().policies

        assert shown.down_unknown == "clock"
        assert expected(found) == [2, 2]
        await found.close()

    run(work())


def test_f_11_a_slow_migration_keeps_its_member_and_the_floor() -> None:
    """Covers R-48, and F-12: Ready goes within a second of the last room."""

    async def work() -> None:
        async with fleet(3, QUICK, load=250) as found:
            await settled(found)
            last = found.members["chat-2"]
            found.load.total = 100
            await until(found, 2)
            await asyncio.sleep(30)
            held = (last.labels, last.controller.snapshot().stateful_index)
            overdue_ms = last.controller.snapshot().overdue_ms
            shown = expected(found)
            last.holds_state = False
            waited_s = await seconds_until(lambda: last.labels == (False, False))

            assert held == ((False, True), 3)
            assert 24_000 <= overdue_ms <= 28_000
            assert shown == [2, 2, 2]
            assert waited_s <= 1.3

    run(work())


def test_f_13_a_check_that_raises_or_hangs_protects() -> None:
    async def work() -> None:
        async with fleet(3, QUICK, load=250) as found:
            await settled(found)
            raising, hanging = found.members["chat-2"], found.members["chat-1"]

            def broken() -> bool:
                raise RuntimeError("gone")

            async def endless() -> bool:
                await asyncio.sleep(1000)
                return False

            raising.controller.set_stateful_check(broken)
            hanging.controller.set_stateful_check(endless, timeout_s=2)
            found.load.total = 10
            await until(found, 1)
            await asyncio.sleep(60)

            assert raising.labels == (False, True)
            assert hanging.labels == (False, True)
            (raised,), (hung,) = complaints(raising), complaints(hanging)
            assert raised == (
                "The stateful check failed: RuntimeError('gone'). This member stays until it says no."
            )
            assert hung.startswith("The stateful check failed: no answer within 2 s.")

    run(work())


def test_a_ready_check_that_fails_is_told_once_until_it_has_answered() -> None:
    async def work() -> None:
        async with fleet(1, QUICK, load=50) as found:
            (one,) = found.members.values()
            answers: list[object] = ["yes"]
            one.controller.set_ready_check(lambda: answers[-1])  # type: ignore[arg-type,return-value]
            await asyncio.sleep(80)
            first = complaints(one)
            answers.append(False)
            await asyncio.sleep(5)
            answers.append(None)
            await asyncio.sleep(5)
            second = complaints(one)[1:]
            answers.append(True)
            await asyncio.sleep(5)

            (told,) = first
            assert "said 'yes', which is neither true nor false. This member does not serve" in told
            assert [each.partition(",")[0] for each in second] == ["The ready check said None"]
            assert one.labels == (True, True)

    run(work())


def test_f_13_without_a_check_nothing_protects_and_that_is_complained_of() -> None:
    """Covers R-23."""

    async def work() -> None:
        async with fleet(3, QUICK, load=250) as found:
            await settled(found)
            last = found.members["chat-2"]
            last.controller.set_stateful_check(None)
            found.load.total = 100
            await until(found, 2)
            await asyncio.sleep(20)

            assert last.labels == (False, False)
            (complaint,) = last.lines.named("complaint")
            assert "No stateful check is set" in str(complaint["message"])

    run(work())


def test_a_member_that_is_cut_off_shows_old_records_no_longer_than_an_old_status() -> None:
    async def work() -> None:
        async with fleet(4, QUICK, load=350) as found:
            await settled(found)
            await asyncio.sleep(1)
            cut = found.members["chat-1"]
            cut.store.is_cut = True
            await asyncio.sleep(30)
            soon = cut.controller.snapshot().stateful_index
            await asyncio.sleep(60)
            late = cut.controller.snapshot().stateful_index
            cut.store.is_cut = False
            await asyncio.sleep(30)

            assert (soon, late) == (4, 2), "its own number it may still hold"
            assert cut.controller.snapshot().stateful_index == 4

    run(work())


def test_f_17_without_the_store_nobody_loses_anything() -> None:
    """Covers R-50 in part."""

    async def work() -> None:
        async with fleet(4, QUICK, load=350) as found:
            await settled(found)
            found.site.is_down = True
            found.load.total = 10
            await asyncio.sleep(30)
            soon = expected(found)
            await asyncio.sleep(270)
            labels = [each.labels for each in found.members.values()]
            late = expected(found)
            found.site.is_down = False
            await asyncio.sleep(20)
            leaders = found.leaders
            held = status_of(found)
            assert held is not None
            assert held.expect == 4
            waited_s = await seconds_until(lambda: status_of(found) != held)

            assert soon == [4] * 4
            assert labels == [(True, True)] * 4
            # Nobody confirms it any more, so nobody shows it: the autoscaler holds.
            assert late == [None] * 4
            assert len(leaders) == 1
            assert waited_s >= 59

    run(work())


def test_f_18_after_a_wipe_members_labels_and_records_are_back_and_generations_grow() -> None:
    async def work() -> None:
        async with fleet(4, QUICK, load=350) as found:
            await settled(found)
            found.load.total = 550
            await until(found, 6)
            before = generation(found)
            found.site.wipe()
            found.load.total = 10
            await seconds_until(lambda: status_of(found) is not None)
            first = status_of(found)
            await asyncio.sleep(5)

            assert first is not None
            assert first.generation > before
            assert first.expect == 6
            assert [(each.is_target, each.is_ready) for each in found.site.members] == [
                (True, True)
            ] * 4
            assert set(found.site.records) == {1, 2, 3, 4}

    run(work())


def test_f_25_a_damaged_status_is_told_ignored_and_written_anew() -> None:
    async def work() -> None:
        async with fleet(3, QUICK, load=250) as found:
            await settled(found)
            before = generation(found)
            found.site.damage("it is no JSON.")
            await asyncio.sleep(2)
            held = expected(found)
            await seconds_until(lambda: status_of(found) is not None, limit_s=30)

            assert held == [3] * 3
            assert generation(found) == before + 1
            assert found.members["chat-1"].lines.named("complaint")

    run(work())


def test_w_13_a_status_that_cannot_be_sends_nobody_away() -> None:
    async def work() -> None:
        async with fleet(3, QUICK, load=250) as found:
            await settled(found)
            now_ms = int(found.members["chat-0"].calendar.unix_s() * 1000)
            nobody = Status(
                current=3,
                expect=0,
                start_ms=now_ms,
                end_ms=now_ms,
                scaling_ms=now_ms,
                generation=generation(found) + 1,
            )
            found.site.put(
                Offer(
                    token=found.site.lock.token,
                    revision=found.site.status.revision,
                    status=nobody,
                )
            )
            await asyncio.sleep(10)

            assert [each.labels for each in found.members.values()] == [(True, True)] * 3
            assert expected(found) == [3] * 3

    run(work())


def test_f_14_and_15_a_kill_of_the_highest_keeps_its_floor_until_it_is_back() -> None:
    async def work() -> None:
        async with fleet(4, QUICK, load=350) as found:
            await settled(found)
            found.load.total = 10
            lost = found.members.pop("chat-3")
            await lost.kill()
            await asyncio.sleep(200)
            floors = {each.controller.snapshot().stateful_index for each in found.members.values()}
            again = One(found, 4)
            found.members[again.name] = again
            again.holds_state = False
            await again.controller.start()
            await asyncio.sleep(200)
            later = {each.controller.snapshot().stateful_index for each in found.members.values()}

            assert floors == {4}, "each says it, so that the next leader need not be known for it"
            # It came back, found no place, and never served: only an operator knows of its state.
            assert max(each for each in later if each is not None) == 4

    run(work())
