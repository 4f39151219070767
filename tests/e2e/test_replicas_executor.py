"""Our executor as a process of its own, with members that are processes: growth, drains, kills and late servers."""

import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.executors import LIMIT_S, Execution, say
from tests.e2e.waiting import eventually
from tests.executed import Members, NumberFile, members
from tests.promapi import PromApi, Reply, prometheus
from tests.serving import Body, Extender, serving
from tests.serving import Reply as Answer

ALL = {1, 2, 3, 4}
DOWN = Reply(status=503, body=b'{"status":"error","errorType":"unavailable","error":"down"}')

pytestmark = pytest.mark.timeout(120)


@pytest.fixture
def api() -> Iterator[PromApi]:
    """What members say."""
    with prometheus() as found:
        yield found


@pytest.fixture
def world(tmp_path: Path) -> Iterator[Members]:
    """Members that end with the test."""
    with members(tmp_path) as found:
        yield found


def processes(world: Members, *, is_stubborn: bool = False) -> dict[str, object]:
    """Return how members are executed as processes."""
    return {"process": {"command": list(world.command(is_stubborn=is_stubborn))}}


def wait_for_births(world: Members, count: int) -> None:
    """Wait until so many were born, and not a moment longer."""
    end_s = time.monotonic() + LIMIT_S
    while len(world.born()) < count:
        assert time.monotonic() < end_s, f"only {world.born()} were born"
        time.sleep(0.001)


def until_running(world: Members, indexes: list[int]) -> None:
    """Wait until these have begun and run: a member is seen before its program has said anything."""
    eventually(world.running, lambda found: found == indexes, limit_s=LIMIT_S)


def test_it_grows_and_drains_and_spares_who_must_serve(
    tmp_path: Path, api: PromApi, world: Members
) -> None:
    say(api, expect=1, generation=1)
    with Execution(tmp_path, api, processes(world)) as executor:
        executor.start()
        executor.until(phase="Steady", observed=1)
        say(api, expect=3, generation=2, members=1, serving={1})
        executor.until(phase="Steady", observed=3)
        assert executor.page("/readyz") == executor.page("/healthz") == b"ok"
        say(api, expect=4, generation=3, members=3, serving={1, 2, 3})
        executor.until(phase="Steady", observed=4)
        until_running(world, [1, 2, 3, 4])

        say(api, expect=2, generation=4, members=4, serving=ALL)
        executor.until_it_says("expected are 2, the highest that must serve is 4")
        say(api, expect=2, generation=4, members=4, serving={1, 2, 3})
        executor.until(phase="Steady", observed=3)
        until_running(world, [1, 2, 3])
        say(api, expect=2, generation=4, members=3, serving={1, 2})
        executor.until(phase="Steady", observed=2)

        until_running(world, [1, 2])
        assert sorted(world.born()) == [1, 2, 3, 4]
        assert [index for index, _ in world.told("asked")] == [4, 3]
        assert executor.metric("hpa_executor_desired") == 2
        assert executor.metric("hpa_executor_observed") == 2
        assert executor.metric("hpa_executor_forced_kills_total") == 0


def test_killed_at_any_moment_it_starts_nobody_twice_and_ends_nobody(
    tmp_path: Path, api: PromApi, world: Members
) -> None:
    say(api, expect=6, generation=7)
    with Execution(tmp_path, api, processes(world)) as executor:
        for count in range(1, 6):
            executor.start()
            wait_for_births(world, count)
            executor.end(signal.SIGKILL)
        executor.start()
        executor.until(phase="Steady", observed=6)
        until_running(world, [1, 2, 3, 4, 5, 6])
        assert executor.end(signal.SIGTERM) == 0

        assert sorted(world.born()) == [1, 2, 3, 4, 5, 6]
        until_running(world, [1, 2, 3, 4, 5, 6])
        assert executor.events("stopped")


def test_what_was_applied_outlives_a_kill_and_an_older_generation_is_refused(
    tmp_path: Path, api: PromApi, world: Members
) -> None:
    say(api, expect=2, generation=8)
    with Execution(tmp_path, api, processes(world)) as executor:
        executor.start()
        executor.until(phase="Steady", observed=2)
        until_running(world, [1, 2])
        executor.end(signal.SIGKILL)
        say(api, expect=5, generation=7, members=2, serving={1, 2})
        executor.start()
        eventually(lambda: executor.events("refused"), bool)

        until_running(world, [1, 2])
        assert "Generation 7 is older than 8" in executor.events("refused")[0]["message"]
        assert executor.metric("hpa_executor_refused_total") >= 1


def test_f_10_a_second_executor_of_the_same_state_does_not_run(
    tmp_path: Path, api: PromApi, world: Members
) -> None:
    say(api, expect=2, generation=8)
    with (
        Execution(tmp_path, api, processes(world)) as first,
        Execution(tmp_path, api, processes(world), name="second") as second,
    ):
        first.start()
        first.until(phase="Steady", observed=2)
        second.start()

        assert second.wait() == 2
        until_running(world, [1, 2])
        assert "Another executor has" in second.log.read_text()
        assert sorted(world.born()) == [1, 2]


def test_without_prometheus_nobody_is_started_or_stopped(
    tmp_path: Path, api: PromApi, world: Members
) -> None:
    say(api, expect=2, generation=8)
    with Execution(tmp_path, api, processes(world)) as executor:
        executor.start()
        executor.until(phase="Steady", observed=2)
        until_running(world, [1, 2])
        say(api, expect=1, generation=9, members=2)
        api.fails_with = DOWN
        status = executor.until_it_says("How many members are wanted is unknown")

        assert "down" in status["why"]
        until_running(world, [1, 2])
        api.fails_with = None
        executor.until(phase="Steady", observed=1)


def test_a_member_that_does_not_end_is_killed_only_where_that_is_configured(
    tmp_path: Path, api: PromApi, world: Members
) -> None:
    say(api, expect=2, generation=1)
    stubborn = processes(world, is_stubborn=True)
    with Execution(tmp_path, api, stubborn, grace="500ms") as patient:
        patient.start()
        patient.until(phase="Steady", observed=2)
        until_running(world, [1, 2])
        say(api, expect=1, generation=2, members=2, serving={1})
        patient.until_it_says("and still runs. Look at it, or set forceAfter.")
        until_running(world, [1, 2])
    with Execution(tmp_path, api, stubborn, grace="500ms", forceAfter="1s") as forcing:
        forcing.start()
        forcing.until(phase="Steady", observed=1)

        assert forcing.metric("hpa_executor_forced_kills_total") == 1
        assert [each["number"] for each in forcing.events("forced_kill")] == [2]


def test_units_of_systemd_grow_and_drain(tmp_path: Path, api: PromApi, world: Members) -> None:
    say(api, expect=3, generation=1)
    unit = {"systemd": {"template": "chat@.service"}}
    with Execution(tmp_path, api, unit) as executor:
        executor.environ = world.systemctl()
        executor.start()
        executor.until(phase="Steady", observed=3)
        until_running(world, [1, 2, 3])
        executor.end(signal.SIGKILL)
        say(api, expect=1, generation=2, members=3, serving={1, 2})
        executor.start()
        executor.until(phase="Steady", observed=2)

        until_running(world, [1, 2])
        assert sorted(world.born()) == [1, 2, 3]


def test_a_command_is_told_how_many_there_are_to_be(tmp_path: Path, api: PromApi) -> None:
    file = NumberFile(tmp_path, 1)
    say(api, expect=3, generation=8, members=1, serving={1})
    command, observe = list(file.command("scale")), list(file.command("observe"))
    told = {"exec": {"command": command, "observe": observe}}
    with Execution(tmp_path, api, told) as executor:
        executor.start()
        executor.until(phase="Steady", observed=3)
        say(api, expect=1, generation=9, members=3, serving={1})
        executor.until(phase="Steady", observed=1)

        assert file.orders == [
            ["chat", "8", "3", "1", "1"], ["chat", "9", "2", "3", "1"], ["chat", "9", "1", "2", "1"],
        ]  # fmt: skip


class Site:
    """A server that creates members, remembers no keys, and answers late when told to."""

    def __init__(self) -> None:
        self.members = 1
        self.calls: list[Body] = []
        self.is_late = True

    def answer(self, path: str, request: Body) -> Answer | Body:
        """Act, and then answer or not."""
        if path == "/members":
            return {"replicas": self.members}
        self.calls.append(request)
        self.members += request["desired"] - request["current"]
        return Answer(hangs=True) if self.is_late else {}


def hooked(server: Extender) -> dict[str, object]:
    """Return how members are executed by a server."""
    return {"webhook": {"url": f"{server.url}/scale", "observeUrl": f"{server.url}/members"}}


def test_f_23_a_webhook_that_acts_and_answers_late_creates_nothing_twice(
    tmp_path: Path, api: PromApi
) -> None:
    site = Site()
    say(api, expect=3, generation=8)
    with serving(site.answer) as server, Execution(tmp_path, api, hooked(server)) as executor:
        executor.start()
        executor.until(phase="Steady", observed=3)
        time.sleep(1.0)

        assert [each["desired"] for each in site.calls] == [3]
        assert site.members == 3
        assert executor.metric("hpa_executor_unknown_outcome_total") == 1
        assert executor.status()["orders"][0]["outcome"].startswith("unknown")


def test_f_23_an_executor_that_is_killed_while_it_waits_creates_nothing_twice(
    tmp_path: Path, api: PromApi
) -> None:
    site = Site()
    say(api, expect=3, generation=8)
    with serving(site.answer) as server, Execution(tmp_path, api, hooked(server)) as executor:
        executor.start()
        eventually(lambda: site.calls, lambda calls: len(calls) == 1)
        executor.end(signal.SIGKILL)
        executor.start()
        executor.until(phase="Steady", observed=3)

        assert [each["desired"] for each in site.calls] == [3]
        assert {
            each["Idempotency-Key"] for each in server.headers if "Idempotency-Key" in each
        } == {"chat/8/3"}
