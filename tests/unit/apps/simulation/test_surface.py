"""The server keeps its promises under load: in order, in time, within bounds, and telling no more than it may."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import msgspec
import pytest

from springtide.apps.sessions import filter_simulation, rules
from springtide.apps.simulation.lanes import Lane, LaneFull
from springtide.edge.cluster import Added, Change, Deleted, Interrupted, Kind, NotServed, Synced
from springtide.engine.simulation.bounds import Bounds
from springtide.model.profile import StoredProfile
from tests.builders import card
from tests.loopback import call
from tests.running import run, until
from tests.simulating import A10, Json, body, fitting, node, pod, profile, read, reasons
from tests.simulators import CLIENT, OTHER, Simulator, limited, simulator

CALL = body(pod(), node("t", A10))
COLD = node("cold", labels={"pool": "cold"})
PROFILE = profile("p", pool="cold")


def test_a_filter_call_is_answered_as_without_a_server(tmp_path: Path) -> None:
    asked = body(pod(gpu=1, gpumem=20000), node("a", A10), node("b", card("x", memory=1000)), COLD)

    async def work() -> None:
        async with simulator(tmp_path) as server:
            answer = await server.ask("POST", "/filter-simulation", asked)

            assert answer.body == filter_simulation(asked, rules()).body

    run(work())


def test_calls_at_the_same_time_are_answered_as_one_after_the_other(tmp_path: Path) -> None:
    calls = [
        body(pod(f"p{number}", gpu=1, gpumem=1500 * number), node("a", A10), node(f"b{number}", A10, A10))
        for number in range(1, 17)
    ]  # fmt: skip

    async def work() -> None:
        async with simulator(tmp_path) as server:
            asking = [server.ask("POST", "/filter-simulation", each) for each in calls]
            answers = await asyncio.gather(*asking)

            assert [each.body for each in answers] == [
                filter_simulation(each, rules()).body for each in calls
            ]

    run(work())


def test_registrations_are_trusted_where_the_caller_says_so(tmp_path: Path) -> None:
    sick = node("t", msgspec.structs.replace(A10, is_healthy=False))

    async def work() -> None:
        async with simulator(tmp_path) as server:
            path = "/filter-simulation?dynamicFields={}"
            answers = [
                await server.say("POST", path.format(said), body(pod(), sick))
                for said in ("reset", "keep", "kept")
            ]

            assert fitting(answers[0]) == ["t"]
            assert reasons(answers[1]) == {"t": "1/1 CardNotHealth"}
            assert answers[2]["Error"] == 'Invalid: dynamicFields is "kept"; there are reset, keep'

    run(work())


def test_a_session_is_opened_forked_reverted_and_ended(tmp_path: Path) -> None:
    async def work() -> None:
        async with simulator(tmp_path) as server:
            path = f"/v1/sessions/{await server.opened(node('t', A10))}"
            await change(server, f"{path}:fork")
            placed = await change(server, f"{path}:place", pods=[{"pod": named("a"), "node": "t"}])
            seen = await server.say("POST", f"{path}:evaluate", {"pods": [named("b")]})
            await change(server, f"{path}:revert")
            content = await server.say("GET", path)
            closed = await server.ask("DELETE", path)
            gone = await server.ask("GET", path)

            assert placed["results"][0]["placed"]
            assert seen["evaluations"][0]["refused"][0]["reason"] == "1/1 CardInsufficientMemory"
            assert content["content"] == [{"name": "t", "pods": []}]
            assert (closed.status, closed.body) == (204, b"")
            assert gone.status == 410
            assert read(gone.body)["type"].endswith("/session-ended")

    run(work())


def test_a_session_is_not_there_for_other_clients(tmp_path: Path) -> None:
    async def work() -> None:
        async with simulator(tmp_path) as server:
            name = await server.opened(node("t", A10))
            other = await server.ask("GET", f"/v1/sessions/{name}", tls=server.papers.of(OTHER))

            assert other.status == 404

    run(work())


def named(name: str) -> Json:
    """Return a pod that has half of a card and more."""
    made = pod(name, gpu=1, gpumem=20000)
    made["metadata"]["uid"] = name
    return made


async def change(server: Simulator, path: str, **fields: Any) -> Json:
    """Make a change."""
    return await server.say("POST", path, {"operationId": server.operation(), **fields})


@pytest.mark.parametrize(("wanted", "status"), [("0", 400), ("-1s", 400), ("soon", 400), ("3s", 200), ("2", 200)])  # fmt: skip
def test_the_caller_says_how_long_it_waits(wanted: str, status: int, tmp_path: Path) -> None:
    async def work() -> None:
        async with simulator(tmp_path) as server:
            estimate = {"templates": [{"node": node("t", A10)}], "pods": [{"pod": pod()}]}
            extra = f"X-Request-Timeout: {wanted}\r\n"
            answer = await server.ask("POST", "/v1/estimate", estimate, extra=extra)

            assert answer.status == status

    run(work())


class Held:
    """Keeps a lane busy until it is let go."""

    def __init__(self, lane: Lane) -> None:
        self._event = threading.Event()
        self.task = asyncio.create_task(lane.run(self._event.wait))

    def let_go(self) -> None:
        """Let others have their turn."""
        self._event.set()


def test_what_takes_too_long_is_told_and_never_begun(tmp_path: Path) -> None:
    async def work() -> None:
        async with simulator(tmp_path) as server:
            name = await server.opened(node("t", A10))
            held = Held(server.process.lanes.lane("sessions"))
            extra = "X-Request-Timeout: 50ms\r\n"
            late = await server.ask(
                "POST", f"/v1/sessions/{name}:fork", {"operationId": "late"}, extra=extra
            )
            held.let_go()
            await held.task
            session = await server.say("GET", f"/v1/sessions/{name}")

            assert late.status == 504
            assert read(late.body)["type"].endswith("/deadline-exceeded")
            assert session["forks"] == 0

    run(work())


def test_a_filter_call_that_takes_too_long_is_told_in_its_body(tmp_path: Path) -> None:
    async def work() -> None:
        async with simulator(tmp_path, settings=limited(request_s=0.05)) as server:
            held = Held(server.process.lanes.lane("filter"))
            late = await server.say("POST", "/filter-simulation", CALL)
            held.let_go()
            await held.task

            assert late["Error"].startswith("DeadlineExceeded: the answer took longer than 0.05 s")

    run(work())


def test_over_the_queue_callers_are_told_to_come_back_and_other_lanes_go_on(tmp_path: Path) -> None:
    async def work() -> None:
        async with simulator(tmp_path, settings=limited(waiting=1)) as server:
            name = await server.opened(node("t", A10))
            filtering = Held(server.process.lanes.lane("filter"))
            waiting = asyncio.create_task(server.say("POST", "/filter-simulation", CALL))
            await until(lambda: server.process.lanes.waiting()["filter"] == 2)
            refused = await server.ask("POST", "/filter-simulation", CALL)
            session = await server.ask("GET", f"/v1/sessions/{name}")
            filtering.let_go()

            assert read(refused.body)["Error"].startswith("Overloaded: 1 calls of this kind wait")
            assert refused.headers["retry-after"] == "1"
            assert session.status == 200
            assert fitting(await waiting) == ["t"]

    run(work())


def test_native_calls_over_the_queue_get_429(tmp_path: Path) -> None:
    async def work() -> None:
        async with simulator(tmp_path, settings=limited(waiting=1)) as server:
            lane = server.process.lanes.lane("estimate")
            held = [Held(lane), Held(lane)]
            refused = await server.ask("POST", "/v1/estimate", b"{}")
            for each in held:
                each.let_go()
            await asyncio.gather(*(each.task for each in held))

            assert refused.status == 429
            assert refused.headers["retry-after"] == "1"
            assert read(refused.body)["type"].endswith("/overloaded")

    run(work())


def test_a_body_that_is_too_large_is_refused_in_the_form_of_its_call(tmp_path: Path) -> None:
    async def work() -> None:
        async with simulator(tmp_path, settings=limited(body_bytes=100)) as server:
            filtered = await server.say("POST", "/filter-simulation", b" " * 101)
            native = await server.ask("POST", "/v1/estimate", b" " * 101)

            assert filtered["Error"].startswith("TooLarge: the body is larger than 100 bytes")
            assert native.status == 413
            assert read(native.body)["type"].endswith("/body-too-large")

    run(work())


def test_bodies_that_are_too_large_together_are_refused(tmp_path: Path) -> None:
    async def work() -> None:
        settings = limited(body_bytes=1000, bodies_bytes=10)
        async with simulator(tmp_path, settings=settings) as server:
            filtered = await server.ask("POST", "/filter-simulation", CALL)
            native = await server.ask("POST", "/v1/estimate", b" " * 11)

            assert read(filtered.body)["Error"].startswith("Overloaded: ")
            assert native.status == 429
            assert native.headers["retry-after"] == "1"

    run(work())


def test_work_of_a_lane_that_is_cancelled_while_it_waits_is_never_begun() -> None:
    async def work() -> None:
        lane = Lane("test", waiting_max=1)
        held, done = Held(lane), []
        waiting = asyncio.create_task(lane.run(lambda: done.append(1)))
        await until(lambda: lane.under_way == 2)
        with pytest.raises(LaneFull):
            await lane.run(lambda: done.append(2))
        waiting.cancel()
        await asyncio.wait([waiting])
        held.let_go()
        await held.task
        await until(lambda: not lane.under_way)
        lane.end()

        assert not done

    run(work())


class Profiles:
    """Tells of profiles as a cluster would, when it is told to."""

    def __init__(self) -> None:
        self.changes: asyncio.Queue[Change[StoredProfile]] = asyncio.Queue()

    async def follow(self, _kind: Kind[StoredProfile], deliver: Any) -> None:
        """Deliver what there is, for ever."""
        while True:
            await deliver(await self.changes.get())

    def tell(self, *changes: Change[StoredProfile]) -> None:
        """Tell of changes."""
        for each in changes:
            self.changes.put_nowait(each)


def added(stored: StoredProfile) -> Added[StoredProfile]:
    return Added(key=stored.name, uid="u", version="1", record=stored)


STORED = StoredProfile(name="p", uid="u", generation=1, version="1", profile=PROFILE)


def test_it_is_ready_and_answers_once_the_profiles_are_known(tmp_path: Path) -> None:
    async def work() -> None:
        told = Profiles()
        async with simulator(tmp_path, follow=told.follow) as server:
            before = await server.ask("GET", "/readyz")
            waiting = asyncio.create_task(
                server.say("POST", "/filter-simulation", body(pod(), COLD))
            )
            told.tell(added(STORED), Synced("1"))
            answer = await waiting
            after = await server.ask("GET", "/readyz")

            assert before.status == 503
            assert b"profiles failed: the device profiles have not been read yet" in before.body
            assert fitting(answer) == ["cold"]
            assert after.body == b"ok"

    run(work())


def test_profiles_that_change_count_from_the_next_call_on(tmp_path: Path) -> None:
    async def work() -> None:
        told = Profiles()
        async with simulator(tmp_path, follow=told.follow) as server:
            told.tell(added(STORED), Synced("1"))
            await until(server.process.ready.is_set)
            with_profile = await server.say("POST", "/filter-simulation", body(pod(), COLD))
            broken = msgspec.structs.replace(STORED, profile=None, fault="spec.devices: empty.")
            told.tell(added(broken))
            await until(lambda: not server.process.lanes.profiles)
            without = await server.say("POST", "/filter-simulation", body(pod(), COLD))
            told.tell(Deleted("p", "u"))

            assert fitting(with_profile) == ["cold"]
            assert reasons(without) == {"cold": "node unregistered"}
            assert server.log.of("skipped")[0]["message"] == "spec.devices: empty."

    run(work())


def test_a_cluster_without_the_kind_has_no_profiles(tmp_path: Path) -> None:
    async def work() -> None:
        told = Profiles()
        async with simulator(tmp_path, follow=told.follow) as server:
            fault = NotServed("The API server has no deviceprofiles.")
            told.tell(Interrupted(fault=fault, failures=1))
            await until(server.process.ready.is_set)

            assert (await server.ask("GET", "/readyz")).status == 200

    run(work())


def test_every_call_is_told_once_without_what_pods_and_nodes_say_of_themselves(
    tmp_path: Path,
) -> None:
    async def work() -> None:
        async with simulator(tmp_path) as server:
            secret = pod(annotations={"password": "hunter2"})
            await server.say("POST", "/filter-simulation", body(secret, node("t", A10)))

            (line,) = server.log.of("simulated")
            took_ms = line["took_ms"]
            assert isinstance(took_ms, float)
            assert {**line, "took_ms": 0} == {
                "is_fault": False, "client": CLIENT, "method": "POST",
                "endpoint": "/filter-simulation", "session": "", "pod": "team/p", "pods": 1,
                "nodes": 1, "outcome": "answered", "took_ms": 0,
            }  # fmt: skip
            assert not any("hunter2" in str(facts) for _, facts in server.log.events)

    run(work())


def test_metrics_tell_of_calls_reasons_memory_and_sessions(tmp_path: Path) -> None:
    async def work() -> None:
        settings = limited(bounds=Bounds(sessions_per_client_max=1))
        async with simulator(tmp_path, settings=settings) as server:
            standing = node("s", A10, standing=[])
            for _ in range(2):
                await server.say(
                    "POST", "/filter-simulation", body(pod(), node("t", A10), node("u"), standing)
                )
            await server.opened(node("t", A10))
            refused = await server.ask("POST", "/v1/sessions", {"operationId": "more"})
            metrics = await server.metrics()

            assert refused.status == 429
            for line in (
                'springtide_simulation_requests_total{endpoint="/filter-simulation",outcome="answered"} 2.0',
                'springtide_simulation_requests_total{endpoint="/v1/sessions",outcome="too-many"} 1.0',
                'springtide_simulation_refusals_total{class="unregistered"} 2.0',
                'springtide_simulation_memo_lookups_total{result="miss"} 3.0',
                'springtide_simulation_memo_lookups_total{result="hit"} 3.0',
                "springtide_simulation_replays_total 1.0",
                "springtide_simulation_pods_evaluated_total 2.0",
                "springtide_simulation_nodes_evaluated_total 6.0",
                "springtide_simulation_sessions_open 1.0",
                "springtide_simulation_sessions_refused_total 1.0",
                'springtide_simulation_calls_under_way{lane="filter"} 0.0',
                'springtide_simulation_request_seconds_count{endpoint="/filter-simulation"} 2.0',
            ):
                assert line in metrics, line

    run(work())


def test_probes_and_metrics_have_a_listener_of_their_own_for_those_who_cannot_show_a_certificate(
    tmp_path: Path,
) -> None:
    async def work() -> None:
        async with simulator(tmp_path, pages=True) as server:
            assert server.where.pages is not None
            ready = await call(server.where.pages, "GET", "/readyz")
            simulated = await call(server.where.pages, "POST", "/filter-simulation", CALL)

            assert ready.status == 200
            assert simulated.status == 404

    run(work())
