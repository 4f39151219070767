"""A member as a user runs it: what is wrong is told with its field and the remedy, and it ends as it is told to."""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.e2e.meeting import Meeting, meeting
from tests.e2e.memberprocess import Member, document, merged
from tests.e2e.membership import STEADY, membership
from tests.e2e.waiting import eventually
from tests.promapi import Reply, prometheus

pytestmark = pytest.mark.timeout(120)

RUN_S = 30.0
USAGE = 2
V = '{"metric":{"hpa_q":"v"},"value":[@,"%s"]}'
TWICE = V.replace('"v"', '"v","a":"1"') % 1 + "," + V.replace('"v"', '"v","a":"2"') % 2
BODIES = {
    V % "NaN": "nan",
    V % "+Inf": "nan",
    "": "no_data",
    TWICE: "ambiguous",
    V % "-1": "negative",
}
"""What a vector has in it, and what that is."""
WHOLE = (
    '{"metric":{"hpa_q":"v"},"value":[@,"20"]},{"metric":{"hpa_q":"n"},"value":[@,"2"]},'
    '{"metric":{"hpa_q":"age"},"value":[@,"1"]}'
)

OTHERS = (
    (Reply(status=500, body=b"<html>"), "http_500"),
    (Reply(body=b"<html>"), "parse"),
    (
        Reply(status=422, body=b'{"status":"error","errorType":"execution","error":"many"}'),
        "api_execution",
    ),
)
"""What is no vector, and what that is."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Meeting]:
    """One etcd and one Prometheus for all."""
    with meeting(tmp_path_factory.mktemp("meeting")) as found:
        yield found


def vector(elements: str, *, more: str = "") -> Reply:
    """Return an answer with these elements, taken now."""
    data = f'{{"resultType":"vector","result":[{elements}]}}'
    text = f'{{"status":"success",{more}"data":{data}}}'
    return Reply(body=text.replace("@", f"{time.time_ns() / 1e9:.3f}").encode())


def wait_for(leader: Member, up: str, down: str) -> None:
    """Wait until the metric is unknown for these reasons."""

    def look() -> tuple[str, str]:
        (one,) = leader.status()["inputs"]
        return one["upUnknown"], one["downUnknown"]

    eventually(look, lambda found: found == (up, down), limit_s=RUN_S)


def run(*options: str) -> subprocess.CompletedProcess[str]:
    """Run the command to its end."""
    command = [sys.executable, "-m", "springtide", "replicas", *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=RUN_S, check=False)


@pytest.mark.parametrize(
    ("parts", "field", "remedy"),
    [
        ({}, "store", "store.etcd or store.kubernetes"),
        ({"store": {"etcd": {"endpoints": ["etcd:2379"]}}}, "store.etcd.endpoints[0]", "write it like"),
        (
            {"store": {"etcd": {"endpoints": ["http://e:1"], "memberTtl": "1s"}}},
            "store.etcd.memberTtl",
            "write at least 2s",
        ),
        ({"controller": {"leaseTtl": "1500ms"}}, "controller.leaseTtl", "write at least 2s"),
        ({"replicas": {"min": 9, "max": 2}}, "replicas.min", "lower it"),
        ({"scheduel": {}}, "scheduel", "schedule"),
    ],
)  # fmt: skip
def test_a_wrong_configuration_is_refused_with_its_field_and_the_remedy(
    tmp_path: Path, parts: dict[str, Any], field: str, remedy: str
) -> None:
    file = tmp_path / "replicas.yaml"
    file.write_bytes(msgspec.json.encode(merged(document("chat", {}), parts)))

    done = run("run", f"--config={file}", "--name=chat-0")

    assert done.returncode == USAGE
    assert str(file) in done.stderr
    assert field in done.stderr
    assert remedy in done.stderr
    assert "Traceback" not in done.stderr


def test_a_second_signal_ends_a_member_that_still_holds_something(place: Meeting) -> None:
    with membership(place, "hurried", 1) as fleet:
        (one,) = fleet.members

        one.terminate()
        fleet.until(lambda seen: seen["isStopping"], one)
        one.terminate()
        code = one.wait()

        assert code == 1
        assert not one.logged("stopped")[-1]["was_drained"]
        assert fleet.records() == [1], "who may hold state is still written down"


def test_a_member_starts_without_etcd_and_joins_when_it_is_there(place: Meeting) -> None:
    with membership(place, "early", 1, begins=False) as fleet:
        (one,) = fleet.members
        one.cut()

        one.start()
        eventually(one.status, bool, limit_s=RUN_S)
        time.sleep(1)
        alone = one.status()
        one.heal()
        fleet.until_expected(1)

        assert (alone["isTarget"], alone["isReady"], alone["round"]) == (False, False, None)
        assert "etcd cannot be reached" in alone["storeFault"]
        assert one.status()["storeFault"] == ""


def test_the_commands_show_and_order_what_the_member_does(place: Meeting) -> None:
    with membership(place, "shown", 2) as fleet:
        leader = fleet.leader()
        other = next(each for each in fleet.members if each is not leader)

        shown = run("status", f"--url={leader.url}")
        refused = run("order", "3", f"--url={other.url}")
        ordered = run("order", "3", "--force", f"--url={leader.url}")
        fleet.until_expected(3)
        away = run("status", "--url=http://127.0.0.1:9")

        assert shown.returncode == 0
        for word in ("Target yes", "Ready yes", "leads", "rooms", other.name):
            assert word in shown.stdout
        assert (refused.returncode, ordered.returncode, away.returncode) == (1, 0, 3)
        assert leader.name in refused.stderr


def test_f_4_what_prometheus_says_that_is_no_number_never_counts(place: Meeting) -> None:
    """Bodies of the kind that proxies, older versions and half a fleet make of a query."""
    with prometheus() as api, membership(place, "garbled", 2, begins=False) as fleet:
        for each in fleet.members:
            text = each.file.read_text(encoding="utf-8")
            ours = f"http://127.0.0.1:{each.lines.prometheus.port}"
            each.file.write_text(text.replace(ours, api.url), encoding="utf-8")
        api.fails_with = vector(WHOLE.replace('"20"', f'"{2 * STEADY}"'))
        fleet.begin()
        leader = fleet.leader()
        for body, reason in BODIES.items():
            api.fails_with = vector(body)
            wait_for(leader, reason, reason)
        api.fails_with = vector(WHOLE, more='"warnings":["a store is away"],')
        wait_for(leader, "", "warning")
        for reply, reason in OTHERS:
            api.fails_with = reply
            wait_for(leader, reason, reason)

        assert [each["expect_replicas"] for each in fleet.history()] == [2]
