"""Members as real processes that leave late, badly or not at all: who may hold state is kept, and so is the floor.

Rows of the fault table.
"""

import time
from collections.abc import Iterator

import pytest

from tests.e2e.applications import BROKEN, HANGING
from tests.e2e.meeting import Meeting, meeting
from tests.e2e.memberprocess import Object
from tests.e2e.membership import (
    CALM,
    LEASE_S,
    ROUND_S,
    Membership,
    is_serving,
    membership,
    memberships,
)
from tests.e2e.waiting import eventually, steadily

pytestmark = pytest.mark.timeout(120)

SLACK_S = 3.0
"""For machines that are busy with other tests."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Meeting]:
    """One etcd and one Prometheus for all."""
    with meeting(tmp_path_factory.mktemp("meeting")) as found:
        yield found


@pytest.fixture(scope="module")
def fleets(place: Meeting) -> Iterator[dict[str, Membership]]:
    """The workloads of all tests, side by side."""
    wanted: dict[str, Object] = {"slow": {}, "killed": {}, "highest": {}, "given": {}}
    with memberships(place, wanted) as found:
        yield found


def floor(fleet: Membership) -> float:
    """Return what all members say together must stay, as an autoscaler is told."""
    (found,) = fleet.meeting.query(f"max(hpa_stateful_index{{hpa_target_name='{fleet.name}'}})")
    return found


def test_f_11_and_12_a_slow_migration_keeps_its_member_until_the_last_room_is_gone(
    fleets: dict[str, Membership],
) -> None:
    """Covers R-48, F-12."""
    fleet = fleets["slow"]
    last = fleet[3]

    fleet.load(40)
    fleet.until_expected(2)
    fleet.until(lambda seen: not seen["isTarget"], last)
    steadily(lambda: last.status()["isReady"], lambda is_ready: is_ready, for_s=5.0)
    overdue_s = last.figure("hpa_drain_overdue_seconds") or 0
    shown = [each.status()["expected"] for each in fleet.members]
    held = floor(fleet)
    last.application.stateful = "false"
    done_s = time.monotonic()
    fleet.until(lambda seen: not seen["isReady"], last)
    took_s = time.monotonic() - done_s
    eventually(lambda: floor(fleet), lambda found: found == 2, limit_s=10)

    assert overdue_s >= 4
    assert shown == [2, 2, 2]
    assert held == 3
    assert took_s <= 1 + SLACK_S
    assert fleet.records() == [1, 2]
    told = [
        (each.kind, each.news.get("isTarget", each.news.get("isReady")))
        for each in last.application.told
    ]
    assert told.index(("target_changed", False)) < told.index(("ready_changed", False))


def test_f_13_a_check_that_fails_or_hangs_protects_and_none_does_not(place: Meeting) -> None:
    with membership(place, "checked", 4, begins=False) as fleet:
        broken, hanging, bare = fleet[2], fleet[3], fleet[4]
        text = bare.file.read_text(encoding="utf-8")
        asked = f'"stateful": "http://{bare.application.address}/stateful", '
        assert asked in text
        bare.file.write_text(text.replace(asked, ""), encoding="utf-8")
        fleet.begin()
        broken.application.stateful, hanging.application.stateful = BROKEN, HANGING

        for each in (broken, hanging, bare):
            each.ask("/v1/shutdown", {"inSeconds": 0})
        fleet.until(lambda seen: not seen["isTarget"], broken, hanging, bare)
        fleet.until(lambda seen: not seen["isReady"], bare)
        steadily(
            lambda: [each.status()["isReady"] for each in (broken, hanging)], all, for_s=ROUND_S
        )

        assert [each.status()["hasStatefulCheck"] for each in (broken, bare)] == [True, False]
        warned = [each for each in bare.logged("complaint") if "stateful check" in each["message"]]
        assert len(warned) == 1
        assert bare.figure("hpa_stateful_check_registered") == 0
        for each in (broken, hanging):
            (told,) = [news["message"] for news in each.logged("complaint")]
            assert told.startswith("The stateful check failed: "), told
            assert told.endswith(" This member stays until it says no."), told
        assert fleet.records() == [1, 2, 3]
        assert is_serving(fleet[1].status())


def test_f_14_a_member_that_is_killed_is_lost_and_nobody_shrinks_meanwhile(
    fleets: dict[str, Membership],
) -> None:
    """Covers R-49 in part, R-58 in part."""
    fleet = fleets["killed"]
    killed = fleet[2]
    others = [fleet[1], fleet[3]]

    killed.kill()
    begun_s = time.monotonic()
    fleet.load(CALM)
    fleet.until(lambda seen: len(seen["members"]) == 2, *others)
    gone_s = time.monotonic() - begun_s
    steadily(lambda: floor(fleet), lambda found: found == 3, for_s=4)
    kept = fleet.records()
    lost = [each.application.news("member_lost") for each in others]
    killed.start()
    fleet.until(is_serving, killed)

    assert gone_s <= LEASE_S + SLACK_S
    assert kept == [1, 2, 3]
    assert [[each.news["index"] for each in told] for told in lost] == [[2], [2]]
    assert fleet.history()[0]["expect_replicas"] == 3
    assert killed.figure("hpa_exit_total") in {None, 0}, "a kill is no end that was counted"
    assert killed.logged("stopped") == []


def test_f_15_the_highest_that_is_killed_keeps_its_floor_until_it_says_what_it_has(
    fleets: dict[str, Membership],
) -> None:
    """Covers R-58."""
    fleet = fleets["highest"]
    killed, others = fleet[3], [fleet[1], fleet[2]]
    leader = fleet.leader()

    killed.kill()
    fleet.load(CALM)
    fleet.until(lambda seen: len(seen["members"]) == 2, *others)
    leader = fleet.leader(but=killed)
    fleet.until(lambda seen: seen["expected"] == 2, *others)
    steadily(lambda: leader.status()["statefulIndex"], lambda found: found == 3, for_s=3)
    alone = floor(fleet)
    killed.start()
    fleet.until(lambda seen: len(seen["members"]) == 3, *others)
    steadily(fleet.records, lambda found: found[-1:] == [3], for_s=2)
    back = leader.status()["statefulIndex"]
    killed.ask("/v1/recovered", {"holdsState": False})
    eventually(lambda: leader.status()["statefulIndex"], lambda found: found < 3, limit_s=10)

    assert alone == 3
    assert back == 3
    assert 3 not in fleet.records()


def test_an_operator_gives_up_what_a_lost_member_held_and_that_is_logged(
    fleets: dict[str, Membership],
) -> None:
    fleet = fleets["given"]
    killed = fleet[3]
    killed.kill()
    leader = fleet.leader(but=killed)
    fleet.until(lambda seen: len(seen["members"]) == 2, leader)

    said = leader.ask("/v1/release-protection", {"index": 3, "operator": "ann"})

    eventually(fleet.records, lambda found: found == [1, 2], limit_s=10)
    assert "ann" in said["message"]
    assert leader.logged("protection_released")[-1]["operator"] == "ann"
