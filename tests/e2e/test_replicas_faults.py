"""Members as real processes whose metrics are missing, late, old or wrong: nothing shrinks by what nobody knows.

Rows of the fault table. Clocks that differ (F-9) are in tests/unit/replicas/test_faults.py, where time is virtual: no
process here can have a clock of its own. Executors (F-10) and kills in the middle of a migration (F-16) have their own
tests.
"""

import time
from collections.abc import Iterator
from itertools import pairwise
from statistics import median

import pytest

from tests.e2e.collectors import collector
from tests.e2e.meeting import Meeting, meeting
from tests.e2e.memberprocess import LIMIT_S, Object
from tests.e2e.membership import CALM, STEADY, Membership, is_serving, membership, memberships
from tests.e2e.waiting import eventually, steadily
from tests.tcpproxy import Mode

pytestmark = pytest.mark.timeout(120)

SLOW = {"window": "6s"}
"""Longer than data may be old, as it should be."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Meeting]:
    """One etcd and one Prometheus for all."""
    with meeting(tmp_path_factory.mktemp("meeting")) as found:
        yield found


@pytest.fixture(scope="module")
def fleets(place: Meeting) -> Iterator[dict[str, Membership]]:
    """The workloads of all tests, side by side."""
    wanted: dict[str, Object] = {
        "away": {"metrics": {"pullInterval": "3s"}, "scaleDown": SLOW},
        "hung": {"scaleDown": SLOW},
        "part": {},
        "renamed": {"scaleDown": {"window": "3s"}},
    }
    with memberships(place, wanted) as found:
        yield found


def unknown(seen: Object) -> tuple[str, str]:
    """Return why the metric counts for neither growing nor shrinking."""
    (one,) = seen["inputs"]
    return one["upUnknown"], one["downUnknown"]


def says(up: str, down: str | None = None) -> tuple[str, str]:
    """Return what is unknown: the same both ways, unless told otherwise."""
    return up, up if down is None else down


def never_shrinks(fleet: Membership, count: int, *, for_s: float) -> None:
    """Hold that for a while nobody expects, shows or decides fewer, and that everybody serves."""

    def look() -> list[Object]:
        return [each.status() for each in fleet.members]

    def is_so(seen: list[Object]) -> bool:
        return all(
            each["round"]["expect"] >= count and each["expected"] >= count and is_serving(each)
            for each in seen
        )

    steadily(look, is_so, for_s=for_s)
    assert min(each["expect_replicas"] for each in fleet.history()) >= count


def test_f_1_without_prometheus_nothing_shrinks_and_the_window_begins_anew(
    fleets: dict[str, Membership],
) -> None:
    """Covers R-46 in part: it is asked again after the shorter interval, give or take a fifth."""
    fleet = fleets["away"]
    leader = fleet.leader()
    leader.cut_metrics(Mode.REFUSE)
    fleet.load(CALM)
    fleet.until(lambda seen: unknown(seen) == says("transport"), leader)
    begun = len(leader.lines.prometheus.asked_at_s)
    never_shrinks(fleet, 3, for_s=5)
    asked = leader.lines.prometheus.asked_at_s[begun:]
    for mode in (Mode.SWALLOW, Mode.CUT):
        leader.cut_metrics(mode)
        never_shrinks(fleet, 3, for_s=3)
        assert unknown(leader.status()) == says("transport")
    leader.cut_metrics(Mode.PASS)
    back_s = time.monotonic()
    fleet.until_expected(2)

    waits = [later - one for one, later in pairwise(asked)]
    assert min(waits) >= 0.75, waits
    # Some may take longer on a machine that is busy with other tests.
    assert median(waits) <= 1.6, waits
    told = leader.application.news("round")
    (pending, *_) = [each for each in told if each.news["phase"] == "Pending"]
    assert pending.at_s - back_s >= 3, "a window begins with the last evaluation in the dark"


def test_f_2_what_a_member_that_hangs_had_pushed_is_known_to_be_old(place: Meeting) -> None:
    """A collector shows old values as if they were new; the heartbeat among them tells."""
    with (
        membership(place, "pushed", begins=False, parts={"scaleDown": SLOW}) as fleet,
        collector(fleet) as address,
    ):
        place.scrape("pushed", [address])
        fleet.begin()
        beats = f"count(hpa_heartbeat_timestamp_seconds{{instance='{address}'}})"
        eventually(lambda: place.query(beats), lambda found: found == [3], limit_s=LIMIT_S)
        leader = fleet.leader()
        frozen = next(each for each in fleet.members if each is not leader)
        total = "sum(rooms{hpa_target_name='pushed'})"

        frozen.freeze()
        fleet.load(CALM)
        frozen.application.rooms = STEADY
        fleet.until(lambda seen: unknown(seen) == says("stale"), leader)
        others = [each for each in fleet.members if each is not frozen]
        steadily(lambda: leader.status()["round"], lambda seen: seen["expect"] == 3, for_s=4)
        seen = place.query(total)
        old_s = place.query("time()-max(timestamp(rooms{hpa_target_name='pushed'}))")
        frozen.thaw()
        fleet.until(lambda seen: not unknown(seen)[1], fleet.leader())

        assert seen == [STEADY + 2 * CALM], "the sum is there as ever"
        assert old_s[0] < 3, "and its samples are new"
        assert all(is_serving(each.status()) for each in others)
        assert min(each["expect_replicas"] for each in fleet.history()) == 3


def test_f_2_and_f_3_of_a_member_that_hangs_nothing_is_scraped(
    fleets: dict[str, Membership],
) -> None:
    fleet = fleets["hung"]
    leader = fleet.leader()
    frozen = fleet[2] if leader is not fleet[2] else fleet[1]

    frozen.freeze()
    fleet.load(CALM)
    # Which is noticed first: that it is not scraped, or that it is no member any more?
    missed = f"Member {frozen.number} is not there"
    fleet.until(lambda seen: unknown(seen)[1] == "coverage" or missed in seen["why"], leader)

    steadily(lambda: leader.status()["expected"], lambda seen: seen == 3, for_s=2)
    frozen.thaw()


def test_f_3_a_part_of_the_members_may_let_it_grow_and_never_shrink(
    fleets: dict[str, Membership],
) -> None:
    """Covers R-46 in part."""
    fleet = fleets["part"]
    leader = fleet.leader()
    hidden = next(each for each in fleet.members if each is not leader)

    hidden.hide()
    fleet.until(lambda seen: unknown(seen) == says("", "coverage"), leader)
    fleet.load(CALM)
    never_shrinks(fleet, 3, for_s=4)
    assert leader.figure("hpa_stateful_index") == 3
    assert fleet.records() == [1, 2, 3]
    fleet.load(160)
    fleet.until_expected(4)

    assert [each["expect_replicas"] for each in fleet.history()][-1] == 4
    assert unknown(leader.status()) == says("", "coverage")


def test_f_5_a_metric_by_another_name_is_no_zero(fleets: dict[str, Membership]) -> None:
    fleet = fleets["renamed"]
    leader = fleet.leader()

    for each in fleet.members:
        each.application.metric = "rooms_total"
    fleet.until(lambda seen: unknown(seen) == says("no_data"), leader)
    never_shrinks(fleet, 3, for_s=4)

    assert "check the metric's name" in leader.status()["inputs"][0]["why"]
