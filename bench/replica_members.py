"""What does a member cost that does nothing, and how soon does a fleet follow?

Real processes with a real etcd and Prometheus, with the times of a deployment where nothing is said of them. An
idle member follows: nobody changes anything, it is scraped every 15 s, and its application is asked nothing.
"""

import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from bench.figure import Figure
from tests.e2e.meeting import Meeting, meeting
from tests.e2e.memberprocess import LIMIT_S, Member, Object
from tests.e2e.membership import Membership, membership

MEMBERS: Final = 4
SETTLE_S: Final = 5.0
IDLE_S: Final = 60.0
CHANGES: Final = 5
AS_DEPLOYED: Final[Object] = {
    "controller": {"enabled": True, "leaseTtl": "15s"},
    "metrics": {
        "enabled": True,
        "pullInterval": "20s",
        "pullRetryInterval": "5s",
        "exportInterval": "10s",
        "scrapeInterval": "1s",
        "statusMaxAge": "60s",
    },
    "schedule": {"startDelay": "0s", "period": "0s", "scalingDelay": "0s"},
    "store": {"etcd": {"memberTtl": "15s", "confirmInterval": "20s"}},
}


def measure() -> Iterator[Figure]:
    """Yield what an idle member takes, and how long labels and a new leader take."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            with meeting(Path(folder)) as place:
                yield from _measured(place)
        except pytest.skip.Exception as missing:
            print(missing)


def _measured(place: Meeting) -> Iterator[Figure]:
    with membership(place, "idle", MEMBERS, parts=AS_DEPLOYED) as fleet:
        targets = [each for one in fleet.members for each in one.targets]
        place.scrape(fleet.name, targets, every="15s")
        yield from _idle(fleet)
        yield _labels(fleet)
        yield _fail_over(fleet)


def _idle(fleet: Membership) -> Iterator[Figure]:
    leader = fleet.leader()
    followers = [each for each in fleet.members if each is not leader]
    time.sleep(SETTLE_S)
    begun_s, asked = time.monotonic(), _asked(followers)
    took_s = {each.name: _cpu_s(each) for each in fleet.members}
    time.sleep(IDLE_S)
    for_s = time.monotonic() - begun_s
    shares = {each.name: (_cpu_s(each) - took_s[each.name]) / for_s * 100 for each in fleet.members}
    idle = sum(shares[each.name] for each in followers) / len(followers)
    rate = (_asked(followers) - asked) / for_s / len(followers)
    yield Figure("CPU of an idle member", idle, "% of a core", f"the mean over {for_s:.0f} s")
    yield Figure("CPU of a leader", shares[leader.name], "% of a core", "one metric every 20 s")
    yield Figure("requests of an idle member", rate, "/s", "that etcd is asked")
    yield Figure("memory of a member", max(map(_rss_mib, followers)), "MiB", "resident")


def _labels(fleet: Membership) -> Figure:
    """Return how long after a status was written the application knows of its new Target."""
    last, took_s = fleet[MEMBERS], []
    leader = fleet.leader()
    if leader is last:
        last.ask("/v1/shutdown", {"inSeconds": 0})
        leader = fleet.leader(but=last)
    for number in range(CHANGES):
        wanted = MEMBERS - 1 if number % 2 == 0 else MEMBERS
        before = len(last.application.news("target_changed"))
        leader.ask("/v1/replicas", {"replicas": wanted, "force": True})
        begun_s = time.monotonic()
        while len(last.application.news("target_changed")) == before:
            assert time.monotonic() - begun_s < LIMIT_S, "no label moved"
            time.sleep(0.01)
        took_s.append(last.application.news("target_changed")[-1].at_s - begun_s)
    return Figure(
        "label after a change", max(took_s), "s", f"from the order, the slowest of {CHANGES}"
    )


def _fail_over(fleet: Membership) -> Figure:
    """Return how long after a leader was killed another one leads."""
    killed = fleet.leader()
    killed.kill()
    begun_s = time.monotonic()
    fleet.leader(but=killed)
    return Figure(
        "leader fail-over", time.monotonic() - begun_s, "s", "after a kill, with a lease of 15 s"
    )


def _asked(members: list[Member]) -> int:
    """Return what these have asked etcd so far."""
    return sum(each.lines.etcd.requests for each in members)


def _cpu_s(member: Member) -> float:
    fields = Path(f"/proc/{member.process_id}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _rss_mib(member: Member) -> float:
    pages = int(Path(f"/proc/{member.process_id}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)
