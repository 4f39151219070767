"""Members as real processes whose leader hangs, is cut off, or is not the only one: one history of numbers all the same.

Rows of the fault table. Each generation that etcd has seen is one more than the one before.
"""

import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

from tests.e2e.meeting import Meeting, meeting
from tests.e2e.memberprocess import Object
from tests.e2e.membership import (
    FAIL_OVER_S,
    LEASE_S,
    STATUS_AGE_S,
    Membership,
    is_done,
    is_serving,
    membership,
    memberships,
    only_by_one,
)
from tests.e2e.waiting import steadily
from tests.tcpproxy import Mode

pytestmark = pytest.mark.timeout(120)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Meeting]:
    """One etcd and one Prometheus for all."""
    with meeting(tmp_path_factory.mktemp("meeting")) as found:
        yield found


@pytest.fixture(scope="module")
def fleets(place: Meeting) -> Iterator[dict[str, Membership]]:
    """The workloads of all tests, side by side."""
    wanted: dict[str, Object] = {"hanging": {}, "parted": {}, "handed": {}}
    with memberships(place, wanted) as found:
        yield found


def test_f_6_a_leader_that_hangs_is_replaced_and_writes_nothing_when_it_wakes(
    fleets: dict[str, Membership],
) -> None:
    """Covers R-47 in part, R-55."""
    fleet = fleets["hanging"]
    frozen = fleet.leader()
    others = [each for each in fleet.members if each is not frozen]

    frozen.freeze()
    begun_s = time.monotonic()
    second = fleet.leader(but=frozen)
    took_s = time.monotonic() - begun_s
    second.ask("/v1/replicas", {"replicas": 4, "force": True})
    fleet.until_expected(4, *others)
    frozen.thaw()
    fleet.until(lambda seen: is_done(seen, 4) and not seen["isLeader"], frozen)
    steadily(fleet.generations, lambda found: len(found) == 2, for_s=3)

    assert took_s <= FAIL_OVER_S
    assert only_by_one(fleet.generations())
    assert {each["controller_node_name"] for each in fleet.history()[1:]} == {second.name}
    assert second.status()["isLeader"]
    assert is_serving(frozen.status())
    assert [each.news["isLeader"] for each in frozen.application.news("leader")][-1] is False


def test_f_8_and_28_a_leader_without_etcd_stops_and_takes_its_number_back_after_a_while(
    fleets: dict[str, Membership],
) -> None:
    """Covers R-47 in part, F-28. Its labels stay, and the larger number holds until it is old."""
    fleet = fleets["parted"]
    cut = fleet.leader()
    others = [each for each in fleet.members if each is not cut]

    cut.cut(Mode.SWALLOW)
    begun_s = time.monotonic()
    fleet.until(lambda seen: not seen["isLeader"], cut)
    stopped_s = time.monotonic() - begun_s
    still = cut.figure("hpa_expect_replicas")
    second = fleet.leader(but=cut)
    taken_s = time.monotonic() - begun_s
    fleet.until(lambda seen: seen["expected"] is None, cut, limit_s=2 * STATUS_AGE_S)
    withdrawn_s = time.monotonic() - begun_s
    second.ask("/v1/replicas", {"replicas": 2, "force": True})
    with suppress(AssertionError):
        steadily(lambda: is_serving(cut.status()), lambda seen: seen, for_s=2)
    held, floor = cut.status(), cut.figure("hpa_stateful_index")
    cut.heal()
    fleet.until(lambda seen: seen["statusAgeSeconds"] < STATUS_AGE_S, cut)

    assert stopped_s < LEASE_S, "it stops before others may start"
    assert still == 3
    assert taken_s <= FAIL_OVER_S
    assert withdrawn_s >= STATUS_AGE_S - 1.5
    assert is_serving(held)
    assert held["statefulIndex"] == cut.number, "who may hold state says so as long as it may"
    assert floor == cut.number
    assert all(each.status()["isReady"] for each in others)
    assert only_by_one(fleet.generations())


def test_f_7_two_that_lead_write_one_history(place: Meeting) -> None:
    """Without a lock both are first in what they see; the status is written over what they both read."""
    with membership(
        place,
        "twice",
        2,
        begins=False,
        parts={"election": "deterministic", "scaleUp": {"window": "0s"}},
    ) as fleet:
        first, second = fleet[1], fleet[2]
        text = second.file.read_text(encoding="utf-8")
        slow = text.replace('"confirmInterval": "1s"', '"confirmInterval": "60s"')
        second.file.write_text(slow, encoding="utf-8")
        first.application.rooms = second.application.rooms = 40
        second.start()
        fleet.until(lambda seen: seen["isLeader"] and is_serving(seen), second)
        place.aside.loop.call_soon_threadsafe(second.lines.etcd.freeze)

        first.start()
        fleet.until(lambda seen: seen["isLeader"] and is_serving(seen), first)
        both = [each.status()["isLeader"] for each in fleet.members]
        fleet.load(100)
        fleet.until_expected(3, first)
        fleet.load(140)
        fleet.until_expected(4, first)
        steadily(fleet.generations, only_by_one, for_s=2)

        assert both == [True, True]
        expects = [each["expect_replicas"] for each in fleet.history()]
        assert expects == sorted(expects), "no number comes back"
        assert only_by_one(fleet.generations())


def test_n_6_a_leader_that_drains_hands_over_before_its_lease_is_over(
    fleets: dict[str, Membership],
) -> None:
    fleet = fleets["handed"]
    leaving = fleet.leader()
    leaving.application.stateful = "false"

    begun_s = time.monotonic()
    leaving.terminate()
    second = fleet.leader(but=leaving)
    took_s = time.monotonic() - begun_s
    code = leaving.wait()

    assert took_s < LEASE_S
    assert code == 0
    assert leaving.logged("stopped")[-1]["was_drained"]
    assert fleet.records() == sorted({1, 2, 3} - {leaving.number})
    assert second.status()["floor"] == max({1, 2, 3} - {leaving.number})
