"""One controller a member, on a site in memory and in virtual time: who leads, what is told, how it ends."""

import asyncio
from typing import Final

import pytest
from msgspec.structs import replace

from springtide.engine.replicas.phases import Phase
from springtide.model.replicas.knobs import LEGACY, ElectionMode, Mode
from springtide.model.replicas.rules import Schedule
from springtide.replicas import (
    Callback,
    LeaderChanged,
    NotLeading,
    ReadyChanged,
    RoundChanged,
    TargetChanged,
)
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


def told(one: One, kind: type) -> list[object]:
    """Return what a member was told of this kind."""
    return [each for each in one.told if isinstance(each, kind)]


def test_three_members_and_prometheus_make_a_status() -> None:
    """Covers R-1: nothing but the members decides."""

    async def work() -> None:
        async with fleet(3, load=450) as found:
            await until(found, 5)

            assert found.leaders == ["chat-0"]
            assert all(each.controller.snapshot().status for each in found.members.values())

    run(work())


def test_n_1_the_lowest_index_leads() -> None:
    async def work() -> None:
        found = Fleet(load=10)
        for index in (3, 2, 1):
            await found.add(index)
        await asyncio.sleep(5)

        assert found.leaders == ["chat-0"]
        await found.close()

    run(work())


def test_n_2_another_leads_within_twenty_seconds_when_the_leader_is_killed() -> None:
    async def work() -> None:
        async with fleet(3, load=250) as found:
            await asyncio.sleep(60)
            leader = found.members.pop("chat-0")
            await leader.kill()
            waited_s = await seconds_until(lambda: bool(found.leaders))

            assert waited_s <= 20
            assert found.leaders == ["chat-1"]

    run(work())


def test_n_6_a_leader_that_stops_gives_the_lock_back() -> None:
    async def work() -> None:
        async with fleet(3, load=250) as found:
            await asyncio.sleep(60)
            await found.members["chat-0"].controller.stop(prestop=True)

            assert await seconds_until(lambda: found.leaders == ["chat-1"]) <= 2

    run(work())


def test_r_53_a_new_leader_first_decides_after_one_pull_interval() -> None:
    """Covers R-53."""

    async def work() -> None:
        async with fleet(2, load=1900) as found:
            await asyncio.sleep(19)
            before = status_of(found)
            await asyncio.sleep(3)

            assert before is None
            assert status_of(found) is not None

    run(work())


def test_a_shrinking_round_moves_target_first_and_ready_when_nothing_is_held() -> None:
    """Covers R-4, R-21, R-22 and R-26: the application is told, and decides when it is done."""

    async def work() -> None:
        async with fleet(3, QUICK, load=250) as found:
            last = found.members["chat-2"]
            await asyncio.sleep(80)
            found.load.total = 100
            await until(found, 2)
            await asyncio.sleep(30)
            held = last.labels
            floor = last.controller.snapshot().stateful_index
            last.holds_state = False
            await asyncio.sleep(2)

            assert held == (False, True)
            assert floor == 3
            assert last.labels == (False, False)
            assert told(last, TargetChanged) == [
                TargetChanged(is_target=True),
                TargetChanged(is_target=False),
            ]
            assert told(last, ReadyChanged) == [
                ReadyChanged(is_ready=True),
                ReadyChanged(is_ready=False),
            ]
            assert found.members["chat-0"].labels == (True, True)

    run(work())


def test_a_label_is_seen_by_others_before_the_application_is_told() -> None:
    """Covers R-29: each change is shown once, and before it counts here."""

    async def work() -> None:
        found = Fleet(QUICK, load=10)
        one = One(found, 1)
        seen: list[bool] = []
        one.controller.subscribe(
            "ready_changed",
            lambda _news: seen.append(found.site.members[0].is_ready),
        )
        await one.controller.start()
        found.load.reporting = 1
        await asyncio.sleep(60)

        assert seen == [True]
        await one.controller.close()

    run(work())


def test_rounds_are_told_phase_by_phase() -> None:
    async def work() -> None:
        async with fleet(2, QUICK, load=150) as found:
            await asyncio.sleep(80)
            found.load.total = 350
            await until(found, 4)
            await asyncio.sleep(10)
            phases = [
                each.phase
                for each in told(found.members["chat-1"], RoundChanged)
                if isinstance(each, RoundChanged) and each.status.expect == 4
            ]

            assert phases == [Phase.PENDING, Phase.MIGRATING, Phase.WAITING, Phase.DONE]

    run(work())


def test_l_11_a_stop_drains_and_says_when_it_is_over() -> None:
    async def work() -> None:
        async with fleet(2, load=150) as found:
            await asyncio.sleep(80)
            one = found.members["chat-1"]
            first = await one.controller.stop(prestop=True)
            await asyncio.sleep(61)
            leaving = one.labels
            await asyncio.sleep(100)
            still = await one.controller.stop(prestop=True)
            one.holds_state = False
            await one.controller.drained()

            assert (first, still) == (1, 1)
            assert leaving == (False, True)
            assert await one.controller.stop() == 0
            assert 2 not in found.site.records

    run(work())


def test_who_leaves_is_counted_as_drained_or_as_forced() -> None:
    """Covers R-49: a kill says nothing at all, and that tells it from both."""

    async def work() -> None:
        async with fleet(3, load=250) as found:
            await asyncio.sleep(80)
            drained, forced = found.members["chat-2"], found.members["chat-1"]
            drained.holds_state = False
            await drained.controller.stop()
            await drained.controller.drained()
            await forced.controller.close()

            assert drained.controller.exits() == {"drained": 1}
            assert forced.controller.exits() == {"forced": 1}

    run(work())


def test_a_killed_member_keeps_its_record_and_is_told_as_lost() -> None:
    """Covers R-58: the floor of the leader stays where it was."""

    async def work() -> None:
        async with fleet(3, load=250) as found:
            await asyncio.sleep(80)
            lost = found.members.pop("chat-2")
            await lost.kill()
            await asyncio.sleep(20)
            leader = found.members["chat-0"]

            assert leader.controller.snapshot().stateful_index == 3
            assert [each for each in leader.told if type(each).__name__ == "MemberLost"]
            assert set(found.site.records) == {1, 2, 3}

    run(work())


def test_l_21_a_restarted_member_takes_its_record_over_when_it_is_loaded() -> None:
    async def work() -> None:
        async with fleet(2, load=150) as found:
            await asyncio.sleep(80)
            lost = found.members.pop("chat-1")
            boot = found.site.records[2].boot
            await lost.kill()
            again = One(found, 2)
            again.is_loaded = False
            found.members[again.name] = again
            await again.controller.start()
            await asyncio.sleep(30)
            before = found.site.records[2].boot
            again.is_loaded = True
            await asyncio.sleep(3)

            assert before == boot
            assert found.site.records[2].boot == again.controller.snapshot().boot

    run(work())


def test_who_recovered_nothing_says_so_and_frees_its_number() -> None:
    async def work() -> None:
        async with fleet(2, load=150) as found:
            await asyncio.sleep(80)
            lost = found.members.pop("chat-1")
            await lost.kill()
            again = One(found, 2)
            again.is_loaded = False
            found.members[again.name] = again
            await again.controller.start()
            await asyncio.sleep(2)
            await again.controller.declare_recovered(holds_state=False)

            assert set(found.site.records) == {1}

    run(work())


def test_an_operator_releases_a_number_and_that_is_written_down() -> None:
    async def work() -> None:
        async with fleet(2, load=150) as found:
            await asyncio.sleep(80)
            await found.members.pop("chat-1").kill()
            await asyncio.sleep(20)
            leader = found.members["chat-0"]
            words = await leader.controller.orders.release(2, operator="ada")

            assert words == "ada released number 2, which chat-1 may have held."
            assert set(found.site.records) == {1}
            assert leader.lines.named("protection_released")

    run(work())


def test_an_order_goes_before_the_load_and_only_the_leader_takes_it() -> None:
    async def work() -> None:
        async with fleet(2, QUICK, load=150) as found:
            await asyncio.sleep(80)
            with pytest.raises(NotLeading, match="ask chat-0"):
                await found.members["chat-1"].controller.orders.replicas(6)
            await found.members["chat-0"].controller.orders.replicas(6, is_forced=True)
            await until(found, 6, limit_s=5)

            status = status_of(found)
            assert status is not None
            assert "An operator ordered 6." in status.reason

    run(work())


def test_a_leader_that_an_operator_sends_away_leads_until_it_is_no_target() -> None:
    async def work() -> None:
        async with fleet(2, QUICK, load=150) as found:
            await asyncio.sleep(80)
            leader = found.members["chat-0"].controller
            leader.orders.shutdown(20)
            await asyncio.sleep(15)
            before = leader.snapshot()
            await asyncio.sleep(10)
            after = leader.snapshot()

            assert (before.is_target, before.is_leader) == (True, True)
            assert (after.is_target, after.is_leader) == (False, False)
            assert found.members["chat-1"].controller.snapshot().is_leader

    run(work())


@pytest.mark.parametrize(
    ("election", "count"), [(ElectionMode.LEASE, 1), (ElectionMode.DETERMINISTIC, 2)]
)
def test_somebody_always_leads_though_an_operator_sends_the_leader_away(
    election: ElectionMode, count: int
) -> None:
    """Nobody else may lead, or older members see it lead as long as it is there."""
    settings = replace(QUICK, knobs=replace(QUICK.knobs, election=election))

    async def work() -> None:
        async with fleet(count, settings, load=50 * count) as found:
            await asyncio.sleep(80)
            found.members["chat-0"].controller.orders.shutdown(0)
            await asyncio.sleep(20)
            shown = found.members["chat-0"].controller.snapshot()

            assert (shown.is_target, shown.is_leader) == (False, True)

    run(work())


def test_an_order_ends_with_the_lead_and_that_is_told() -> None:
    """An order may send away the member that took it."""

    async def work() -> None:
        async with fleet(2, QUICK, load=150) as found:
            await asyncio.sleep(80)
            leader = found.members["chat-0"]
            await leader.controller.orders.replicas(6, is_forced=True)
            await until(found, 6, limit_s=5)
            leader.controller.orders.shutdown(0)
            await leader.controller.stop(prestop=True)
            await asyncio.sleep(5)
            shown = leader.controller.snapshot()

            assert shown.ordered is None
            assert "The order of 6 replicas ended here" in shown.complaints[-1].words

    run(work())


def test_a_snapshot_shows_at_once_what_has_changed() -> None:
    """It is made anew once a second where nothing does."""

    async def work() -> None:
        async with fleet(2, load=150) as found:
            await asyncio.sleep(80.5)
            one = found.members["chat-0"]
            before = one.controller.snapshot()
            await asyncio.sleep(2)
            calm = one.controller.snapshot()
            await one.controller.stop(prestop=False)
            await asyncio.sleep(0.01)

            assert before.at_ms < calm.at_ms
            assert one.controller.snapshot().is_stopping

    run(work())


def test_l_12_without_controller_and_metrics_members_serve_after_a_second() -> None:
    """Covers R-5: and nobody decides."""

    async def work() -> None:
        async with fleet(2, replace(SETTINGS, is_enabled=False), load=1900) as found:
            await asyncio.sleep(5)

            assert [each.labels for each in found.members.values()] == [(True, True)] * 2
            assert found.leaders == []
            assert found.load.asked == 0

    run(work())


def test_l_20_who_only_observes_decides_and_moves_nobody() -> None:
    """Covers R-42."""

    async def work() -> None:
        observing = replace(QUICK, knobs=replace(QUICK.knobs, mode=Mode.OBSERVE))
        async with fleet(3, observing, load=100) as found:
            await until(found, 2)
            await asyncio.sleep(60)

            assert [each.labels for each in found.members.values()] == [(True, True)] * 3
            assert found.members["chat-0"].controller.snapshot().expected == 2

    run(work())


def test_n_5_without_a_lease_the_first_with_an_ordinal_leads_and_only_one() -> None:
    async def work() -> None:
        legacy = replace(QUICK, knobs=LEGACY)
        async with fleet(3, legacy, load=250) as found:
            await asyncio.sleep(60)

            assert found.leaders == ["chat-0"]
            assert status_of(found) is not None

    run(work())


def test_members_without_ordinals_are_numbered_by_their_order() -> None:
    """Covers R-33."""

    async def work() -> None:
        found = Fleet(QUICK, load=150)
        for name in ("b", "a", "c"):
            await found.add(None, name=name)
        await asyncio.sleep(2)
        numbers = {each.name: each.controller.snapshot().index for each in found.members.values()}
        await found.members.pop("a").controller.close()
        await asyncio.sleep(2)
        later = {each.name: each.controller.snapshot().index for each in found.members.values()}

        assert numbers == {"a": 1, "b": 2, "c": 3}
        assert later == {"b": 1, "c": 2}
        await found.close()

    run(work())


def test_r_18_members_are_selected_by_ready_or_by_target() -> None:
    """Covers R-18."""

    async def work() -> None:
        async with fleet(3, QUICK, load=250) as found:
            await asyncio.sleep(80)
            found.load.total = 100
            await until(found, 2)
            await asyncio.sleep(30)
            controller = found.members["chat-0"].controller
            ready = [each.name for each in controller.select("chat", "ready")]
            target = [each.name for each in controller.select("chat", "target")]

            assert ready == ["chat-0", "chat-1", "chat-2"]
            assert target == ["chat-0", "chat-1"]
            assert controller.select("other") == []

    run(work())


def test_a_reload_with_other_thresholds_calms_anew() -> None:
    """C-13 on a running controller: what is changed may not shrink before a whole window."""

    async def work() -> None:
        async with fleet(3, QUICK, load=250) as found:
            await asyncio.sleep(80)
            policy = replace(QUICK.custom[0], up_per_replica=500, down_per_replica=400)
            other = replace(QUICK, custom=(policy,))
            begun_s = asyncio.get_running_loop().time()
            for each in found.members.values():
                await each.controller.reload(other)
            await until(found, 1)

            assert asyncio.get_running_loop().time() - begun_s >= 60

    run(work())


def test_z_11_callbacks_of_a_policy_are_told_once_it_is_pulled() -> None:
    async def work() -> None:
        found = Fleet(QUICK, load=42)
        one = One(found, 1)
        found.load.reporting = 1
        seen: list[object] = []
        pull = one.controller.policy("rooms")
        pull.on("instant", Callback(seen.append))
        pull.on("ready", Callback(lambda: seen.append("ready")))
        await one.controller.start()
        await asyncio.sleep(30)

        assert [str(each) for each in seen[:1]] == ["(Decimal('42'),)"]
        assert seen.count("ready") == 1
        assert told(one, LeaderChanged) == [LeaderChanged(is_leader=True)]
        await one.controller.close()

    run(work())


def test_a_bug_in_one_part_ends_neither_it_nor_the_others() -> None:
    async def work() -> None:
        async with fleet(2, QUICK, load=150) as found:
            one = found.members["chat-0"]
            await asyncio.sleep(80)
            one.store.follow_breaks = True
            await asyncio.sleep(25)
            one.store.follow_breaks = False
            await asyncio.sleep(30)
            found.load.total = 350
            await until(found, 4)

            assert one.lines.named("bug")
            assert one.labels == (True, True)

    run(work())


def test_p_11_a_provider_of_the_application_raises_and_one_that_fails_lowers_nothing() -> None:
    """Covers R-13."""

    class Wants:
        def up(self, replicas: int | None) -> int | None:
            return max(replicas or 0, 6)

        def down(self, replicas: int | None) -> int | None:
            return replicas

    class Fails:
        def up(self, replicas: int | None) -> int | None:
            raise RuntimeError("no answer")

        def down(self, replicas: int | None) -> int | None:
            raise RuntimeError("no answer")

    async def work() -> None:
        async with fleet(3, QUICK, load=250) as found:
            ends = []
            for one in found.members.values():
                ends.append(one.controller.add_provider("rooms", Wants(), priority=2))
                one.controller.add_provider("broken", Fails(), priority=1)
            await until(found, 6)
            for end in ends:
                end()
            found.load.total = 10
            await asyncio.sleep(300)
            status = status_of(found)

            assert status is not None
            assert status.expect == 6
            assert "Provider broken failed" in str(found.members["chat-0"].lines.named("complaint"))

    run(work())


def test_r_19_the_readiness_of_a_pod_changes_no_label_and_is_changed_by_none() -> None:
    """Covers R-19."""

    async def work() -> None:
        async with fleet(2, QUICK, load=150) as found:
            await asyncio.sleep(80)
            one = found.members["chat-1"]
            found.site.enter(replace(found.site.members[1], is_pod_ready=False))
            await asyncio.sleep(2)
            selected = one.controller.select("chat", "ready")

            assert one.labels == (True, True)
            assert [each.name for each in selected] == ["chat-0", "chat-1"]

    run(work())


def test_what_is_told_is_shown_and_what_is_lost_counts_at_once() -> None:
    """Covers R-26 in part."""
    seen: list[tuple[object, ...]] = []

    async def work() -> None:
        async with fleet(1, QUICK) as found:
            controller = found.members["chat-0"].controller

            def note(told: object) -> None:
                shown = controller.snapshot()
                seen.append((told, controller.is_target(), shown.is_target, shown.is_ready))

            controller.subscribe("target_changed", note)
            controller.subscribe("ready_changed", note)
            found.members["chat-0"].store.is_cut = True
            await asyncio.sleep(30)
            assert not controller.is_target()
            found.members["chat-0"].store.is_cut = False
            await asyncio.sleep(90)
            assert controller.is_ready()

    run(work())

    assert seen == [
        (TargetChanged(is_target=True), True, True, False),
        (ReadyChanged(is_ready=True), True, True, True),
        (TargetChanged(is_target=False), False, False, True),
    ]


def test_a_policy_is_set_up_now_and_after_each_reload_and_cleaned_up_before() -> None:
    async def work() -> None:
        async with fleet(1, QUICK) as found:
            controller, calls = found.members["chat-0"].controller, []
            controller.on_setup("rooms", lambda _ctl, pull: calls.append(("setup", pull)))
            controller.on_cleanup("rooms", lambda _ctl, pull: calls.append(("cleanup", pull)))
            first = controller.policy("rooms")
            await controller.reload(QUICK)
            second = controller.policy("rooms")
            await controller.close()

            assert calls == [
                ("setup", first),
                ("cleanup", first),
                ("setup", second),
                ("cleanup", second),
            ]
            assert first is not second

    run(work())
