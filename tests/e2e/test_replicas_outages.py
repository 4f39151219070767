"""Members as real processes whose etcd is away, forgets, or holds what nobody can read: nobody who serves stops.

Rows of the fault table.
"""

from collections import Counter
from collections.abc import Iterator

import pytest

from tests.e2e.meeting import Meeting, meeting
from tests.e2e.memberprocess import LIMIT_S
from tests.e2e.membership import (
    STATUS_AGE_S,
    Membership,
    is_done,
    is_serving,
    membership,
    only_by_one,
)
from tests.e2e.waiting import eventually, steadily
from tests.tcpproxy import Mode

pytestmark = pytest.mark.timeout(120)


@pytest.fixture
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Meeting]:
    """An etcd that a test may stop, and a Prometheus."""
    with meeting(tmp_path_factory.mktemp("meeting")) as found:
        yield found


def all_serve(fleet: Membership) -> bool:
    """Return whether everybody has both labels."""
    return all(is_serving(each.status()) for each in fleet.members)


def test_f_17_without_etcd_nothing_is_decided_and_everybody_serves(place: Meeting) -> None:
    """Covers R-50 in part."""
    with membership(place, "down") as fleet:
        before = fleet.history()

        place.aside.done(place.etcd.stop())
        early = [each.figure("hpa_expect_replicas") for each in fleet.members]
        steadily(lambda: all_serve(fleet), lambda seen: seen, for_s=STATUS_AGE_S + 2)
        late = [each.status() for each in fleet.members]
        shown = [each.figure("hpa_expect_replicas") for each in fleet.members]
        held = [each.figure("hpa_stateful_index") for each in fleet.members]
        errors = [each.figure("hpa_backend_errors_total") for each in fleet.members]
        place.aside.done(place.etcd.start())
        fleet.until(lambda seen: seen["statusAgeSeconds"] < 3 and len(seen["members"]) == 3)
        leader = fleet.leader()
        steadily(lambda: all_serve(fleet), lambda seen: seen, for_s=2)

        assert early == [3, 3, 3]
        assert shown == [None, None, None], "an old number holds nobody up for good"
        assert max(each or 0 for each in held) == 3
        assert all(each for each in held)
        assert not any(each["isLeader"] for each in late)
        assert all("etcd cannot be reached" in each["storeFault"] for each in late)
        assert all(each["statusAgeSeconds"] > STATUS_AGE_S for each in late)
        assert all(len(each["members"]) == 3 for each in late), "the members are those of before"
        assert all(each for each in errors)
        assert fleet.history()[: len(before)] == before
        assert only_by_one(fleet.generations())
        assert leader.status()["round"]["expect"] == 3


def test_f_18_after_a_wipe_all_is_back_and_the_number_is_what_is_there(place: Meeting) -> None:
    with membership(place, "wiped") as fleet:
        last = max(fleet.generations())

        place.aside.start(place.etcd.wipe()).result(60)
        steadily(lambda: all_serve(fleet), lambda seen: seen, for_s=2)
        eventually(fleet.records, lambda found: found == [1, 2, 3], limit_s=LIMIT_S)
        fleet.leader()
        fleet.until(lambda seen: seen["round"]["generation"] > last)

        history = place.history(fleet.key)
        assert {each["expect_replicas"] for each in history} == {3}
        assert min(each["generation"] for each in history) > last
        assert all_serve(fleet)
        assert all(len(each.status()["members"]) == 3 for each in fleet.members)


def test_f_19_what_was_compacted_meanwhile_is_read_whole_and_told_once(place: Meeting) -> None:
    """Covers R-52 in part."""
    with membership(place, "compacted") as fleet:
        leader = fleet.leader()
        cut = next(each for each in fleet.members if each is not leader and each.number != 3)

        cut.cut(Mode.REFUSE)
        fleet.order(4)
        fleet.until_expected(4, leader)
        fleet.order(5)
        fleet.until_expected(5, leader)
        leading = leader.status()["round"]["generation"]
        place.aside.done(place.etcd.compact())
        cut.heal()
        fleet.until(lambda seen: is_done(seen, 5) and len(seen["members"]) == 3, cut)

        rounds = [each.news for each in cut.application.news("round")]
        told = Counter((each["generation"], each["phase"]) for each in rounds)
        seen = [each["generation"] for each in rounds]
        assert max(told.values()) == 1
        assert seen == sorted(seen)
        assert seen[-1] == leading
        assert is_serving(cut.status())


def test_f_25_what_nobody_can_read_is_told_and_the_last_good_number_stays(place: Meeting) -> None:
    with membership(place, "garbled") as fleet:
        eventually(lambda: all_serve(fleet), lambda seen: seen, limit_s=LIMIT_S)
        last = max(fleet.generations())
        garbage = '{"current_replicas": 1, "expect_replicas": "one", '

        place.put(fleet.key, garbage)
        fleet.until(
            lambda seen: any("status" in each["message"].lower() for each in seen["complaints"])
        )
        steadily(lambda: all_serve(fleet), lambda seen: seen, for_s=2)
        shown = [each.figure("hpa_expect_replicas") for each in fleet.members]
        fleet.until(lambda seen: seen["round"]["generation"] >= last)

        assert shown == [3, 3, 3]
        assert {each.status()["round"]["expect"] for each in fleet.members} == {3}
