"""A member beside its application, served and asked over loopback; members meet in memory."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from msgspec.structs import replace
from prometheus_client.parser import text_string_to_metric_families

from springtide.apps.replicas import Application, Surface
from springtide.apps.replicas.application import news_page
from springtide.apps.replicas.endpoints import ENDPOINTS, openapi
from springtide.edge.http import Calling
from springtide.edge.machine import MachineCalendar, MachineClock
from springtide.edge.serving import Application as Served
from springtide.edge.serving import Budget, Listener, Routes, listening, server_for
from springtide.edge.store import MemorySite, MemoryStore
from springtide.model.replicas.answer import Answer, Answered, Sample, Series
from springtide.model.replicas.member import Record
from springtide.model.replicas.rules import Schedule
from springtide.model.replicas.settings import LabelSettings, PullSettings, WindowSettings
from springtide.replicas import Identity, MemberLost, ReplicaController, TargetChanged
from springtide.replicas.registering import registry
from springtide.wire.crd.replica_member import ApplicationEntry
from tests.members import SETTINGS, Lines, Load
from tests.serving import Body, Extender, Reply

QUICK: Final = replace(
    SETTINGS,
    schedule=Schedule(start_delay_ms=50, period_ms=50, scaling_delay_ms=50),
    windows=WindowSettings(),
    pull=PullSettings(interval_ms=200, retry_ms=100, export_interval_ms=10, scrape_interval_ms=10),
    labels=LabelSettings(init_wait_ms=100),
)
TRUE: Final = Reply(body=b"true")


class Beside:
    """The application: what it answers to the checks, and what it was told."""

    def __init__(self) -> None:
        self.ready = TRUE
        self.stateful = TRUE
        self.news: list[dict[str, Any]] = []
        self.refuses = 0

    def __call__(self, path: str, body: Body) -> Reply:
        if path == "/ready":
            return self.ready
        if path == "/stateful":
            return self.stateful
        if self.refuses:
            self.refuses -= 1
            return Reply(status=503)
        self.news.append(dict(body))
        return Reply()

    def told(self, kind: str) -> list[dict[str, Any]]:
        """Return the news of one kind."""
        return [each for each in self.news if each["kind"] == kind]


class Member:
    """A running member and how to call it."""

    def __init__(self, controller: ReplicaController, surface: Surface, listener: Listener) -> None:
        self.controller = controller
        self.surface = surface
        self._url = f"http://127.0.0.1:{listener.port}"
        self.lines = Lines()

    async def ask(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        """Return the status and the decoded body, the text where it is none."""
        data = b"" if body is None else json.dumps(body).encode()
        async with Calling(timeout_s=10.0) as calling:
            status, found = await calling.answered(method, self._url + path, data)
        try:
            return status, json.loads(found)
        except ValueError:
            return status, found.decode().strip()


@asynccontextmanager
async def running(
    beside: Beside | None = None,
    *,
    site: MemorySite | None = None,
    index: int = 1,
    load: float = 10,
    token_file: str = "",
) -> AsyncIterator[Member]:
    """A member, with an application beside it if one is given."""
    lines = Lines()
    controller = ReplicaController(
        QUICK,
        Identity(name=f"chat-{index - 1}", index=index, service="chat"),
        store=MemoryStore(site or MemorySite(MachineClock())),
        clock=MachineClock(),
        calendar=MachineCalendar(),
        log=lines,
        metrics=_Now(load),
    )
    surface = Surface(
        controller,
        {"kind": "ReplicasConfiguration"},
        registry=registry(
            QUICK,
            controller.identity,
            snapshot=controller.snapshot,
            observers=None,
            calendar=MachineCalendar(),
        ),
        token_file=token_file,
        prestop_on_metrics=False,
        log=lines,
    )
    listener = listening("127.0.0.1:0")
    server = server_for(
        Served(
            Routes(surface.calls()),
            budget=Budget(1 << 20),
            tell_bug=lambda path, bug: lines("bug", path=path, bug=repr(bug)),
            guard=surface.guard,
        ),
        drain_s=0.1,
    )
    async with AsyncExitStack() as stack:
        tasks = [asyncio.create_task(server.serve(sockets=[listener.socket]))]
        if beside is not None:
            extender = Extender(beside)
            stack.callback(extender.close)
            url = extender.url
            entry = ApplicationEntry(
                ready=f"{url}/ready", stateful=f"{url}/stateful", events=f"{url}/events"
            )
            calling = await stack.enter_async_context(Calling(timeout_s=1.0))
            application = Application(entry, calling, log=lines)
            application.join(controller, timeout_s=1.0)
            tasks.append(asyncio.create_task(application.run()))
        await controller.start()
        member = Member(controller, surface, listener)
        member.lines = lines
        try:
            yield member
        finally:
            await controller.close()
            server.should_exit = True
            for task in tasks[1:]:
                task.cancel()
            await asyncio.wait(tasks)
            listener.socket.close()


class _Now(Load):
    """Answers as of this machine's time."""

    async def answer(self, text: str) -> Answer:
        """Return what a test set."""
        found = await super().answer(text)
        if not isinstance(found, Answered):
            return found
        at_ms = int(MachineCalendar().unix_s() * 1000)
        return Answered(
            series=tuple(
                Series(each.labels, (Sample(at_ms, each.samples[0].value),))
                for each in found.series
            )
        )


async def until(holds: Callable[[], object]) -> None:
    """Wait for something that needs real time."""
    for _ in range(400):
        if holds():
            return
        await asyncio.sleep(0.02)
    raise AssertionError("it never came to that")


def test_a_member_shows_its_labels_its_round_and_its_inputs() -> None:
    async def work() -> None:
        async with running() as member:
            await until(lambda: member.controller.snapshot().status is not None)
            await until(member.controller.is_ready)
            status, page = await member.ask("GET", "/v1/status")
            _, members = await member.ask("GET", "/v1/members?mode=all")
            _, configuration = await member.ask("GET", "/v1/configuration")

            assert status == 200
            assert (page["name"], page["isTarget"], page["isReady"]) == ("chat-0", True, True)
            assert page["round"]["generation"] >= 1
            assert page["inputs"][0]["policy"] == "rooms"
            assert [each["name"] for each in members] == ["chat-0"]
            assert configuration == {"kind": "ReplicasConfiguration"}

    asyncio.run(work())


def test_a_scrape_reads_what_the_member_knows_now() -> None:
    async def work() -> None:
        async with running() as member:
            await until(lambda: member.controller.snapshot().expected is not None)
            await until(member.controller.is_ready)
            status, page = await member.ask("GET", "/metrics")
            _, shown = await member.ask("GET", "/v1/status")

        found = {
            each.name: each.value
            for family in text_string_to_metric_families(page)
            for each in family.samples
        }
        assert status == 200
        assert found["hpa_expect_replicas"] == 1
        assert found["hpa_status_generation"] == shown["round"]["generation"]
        assert (found["hpa_scaling_target"], found["hpa_scaling_ready"]) == (1, 1)
        assert "hpa_rule_cpu_permillage" not in found

    asyncio.run(work())


def test_a_mode_that_is_none_is_refused_with_those_that_are() -> None:
    async def work() -> None:
        async with running() as member:
            status, text = await member.ask("GET", "/v1/members?mode=both")

            assert (status, text) == (400, '"both" is no mode; ask for ready, target or all.')

    asyncio.run(work())


def test_an_order_is_taken_by_the_leader_alone() -> None:
    async def work() -> None:
        site = MemorySite(MachineClock())
        async with running(site=site) as leader, running(site=site, index=2) as other:
            await until(leader.controller.is_leader)
            await until(lambda: other.controller.snapshot().leader == "chat-0")
            refused = await other.ask("POST", "/v1/replicas", {"replicas": 6})
            taken = await leader.ask("POST", "/v1/replicas", {"replicas": 6, "force": True})
            await until(lambda: (leader.controller.snapshot().ordered) == 6)
            back = await leader.ask("POST", "/v1/replicas", {"replicas": None})

            assert refused == (409, "This member does not lead; ask chat-0.")
            assert taken == (200, {"message": "6 replicas are ordered, within the bounds."})
            assert back[0] == 200

    asyncio.run(work())


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("/v1/replicas", {"replicas": 0}, "replicas"),
        ("/v1/replicas", {"replica": 3}, "replica"),
        ("/v1/schedule", {"startSeconds": -1}, "startSeconds"),
        ("/v1/shutdown", {"inSeconds": 1e9}, "inSeconds"),
        ("/v1/release-protection", {"index": 2, "operator": ""}, "operator"),
        ("/v1/release-protection", {"operator": "ada"}, "index"),
        ("/v1/thaw", {"operator": ""}, "operator"),
        ("/v1/recovered", {"holdsState": "yes"}, "holdsState"),
    ],
)
def test_an_order_that_makes_no_sense_names_its_field(
    path: str, body: dict[str, object], field: str
) -> None:
    async def work() -> None:
        async with running() as member:
            status, text = await member.ask("POST", path, body)

            assert status == 400
            assert field in text

    asyncio.run(work())


def test_who_shows_no_token_sees_only_probes(tmp_path: Path) -> None:
    async def work() -> None:
        token = tmp_path / "token"
        token.write_text("s3cret\n", encoding="ascii")
        async with running(token_file=str(token)) as member:
            refused, _ = await member.ask("GET", "/v1/status")
            healthy, _ = await member.ask("GET", "/healthz")

            assert (refused, healthy) == (401, 200)

    asyncio.run(work())


def test_the_hook_before_a_stop_waits_for_the_drain() -> None:
    """Covers R-43 in part, and B-1: the schedule of rounds is kept."""

    async def work() -> None:
        beside = Beside()
        async with running(beside) as member:
            await until(member.controller.is_ready)
            held = await member.ask("GET", "/hpa/prestop?timeout=0.5")
            beside.stateful = Reply(body=b"false")
            drained = await member.ask("GET", "/hpa/prestop?timeout=5")
            wrong = await member.ask("GET", "/hpa/prestop?timeout=soon")

            assert held == (504, "This member still holds something, and goes on draining.")
            assert drained == (200, "drained")
            assert wrong[0] == 400

    asyncio.run(work())


@pytest.mark.parametrize(
    "answer",
    [Reply(body=b'"no"'), Reply(status=500), Reply(body=b"false", cuts=True)],
    ids=["text", "500", "cut"],
)
def test_a_check_that_answers_anything_else_protects(answer: Reply) -> None:
    async def work() -> None:
        beside = Beside()
        async with running(beside) as member:
            await until(member.controller.is_ready)
            beside.stateful = answer
            status, _ = await member.ask("GET", "/hpa/prestop?timeout=1")

            assert status == 504
            assert member.controller.is_ready()

    asyncio.run(work())


def test_an_application_that_refuses_news_gets_the_latest_of_each_kind() -> None:
    async def work() -> None:
        beside = Beside()
        beside.stateful = Reply(body=b"false")
        beside.refuses = 3
        async with running(beside) as member:
            await until(member.controller.is_ready)
            await until(lambda: bool(beside.told("ready_changed")))
            member.controller.orders.shutdown(0)
            await until(lambda: beside.told("target_changed")[-1:] == [GONE])

            assert {"kind": "leader", "isLeader": True} in beside.news

    asyncio.run(work())


GONE: Final = {"kind": "target_changed", "isTarget": False}


def test_news_name_their_kind() -> None:
    record = Record(member="chat-3", boot="b", at_ms=1)

    assert news_page(TargetChanged(is_target=False)) == GONE
    assert news_page(MemberLost(index=4, record=record)) == {
        "kind": "member_lost",
        "index": 4,
        "member": "chat-3",
    }


def test_every_endpoint_is_in_the_document() -> None:
    paths = openapi()["paths"]

    assert set(paths) == {each.path for each in ENDPOINTS}
