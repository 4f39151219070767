"""What every executor promises, held by real processes, commands and servers."""

import asyncio
import json
import signal
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from springtide.edge.executors import (
    ByIndex,
    ByNumber,
    Called,
    Commands,
    Hook,
    KubeScale,
    NotDone,
    OutcomeUnknown,
    Place,
    Pool,
    Processes,
    Systemd,
    Units,
    Unobservable,
    Webhook,
)
from springtide.edge.kube.transport import Answer, Query, Request
from springtide.model.replicas.execution import NodeState, Observation, ScaleOrder
from tests.e2e.waiting import eventually
from tests.executed import Members, NumberFile, members
from tests.serving import Body, Extender, Reply, serving

TIMEOUT_S: Final = 10.0
SOON_S: Final = 0.3
STATUS: Final = Path("/proc/self/status")

MakeByIndex = Callable[[Members], ByIndex]


def processes(found: Members, *, is_stubborn: bool = False) -> Processes:
    """Return an executor of processes."""
    command = found.command(is_stubborn=is_stubborn)
    folder = found.folder / "state"
    return Processes(Pool(command=command, folder=folder, timeout_s=TIMEOUT_S))


def units(found: Members, *, is_stubborn: bool = False) -> Systemd:
    """Return an executor of units."""
    environ = found.systemctl(is_stubborn=is_stubborn)
    return Systemd(Units(template="chat@.service", environ=environ, timeout_s=TIMEOUT_S))


BY_INDEX: Final = {"processes": processes, "units": units}


@pytest.fixture
def world(tmp_path: Path) -> Iterator[Members]:
    """Members that end with the test."""
    with members(tmp_path) as found:
        yield found


@pytest.fixture(params=sorted(BY_INDEX))
def make(request: pytest.FixtureRequest) -> Callable[..., ByIndex]:
    """What makes one of the executors by index."""
    return BY_INDEX[request.param]  # type: ignore[return-value]


def states(executor: ByIndex | ByNumber) -> dict[int, NodeState]:
    """Return who is there, by number."""
    observation = asyncio.run(executor.observe())
    return {each.index: each.state for each in observation.members}


def test_members_are_started_once_and_found_by_the_next_executor(
    make: Callable[..., ByIndex], world: Members
) -> None:
    first, second = make(world), make(world)
    assert states(first) == {}

    asyncio.run(first.start(2))
    asyncio.run(first.start(1))
    asyncio.run(first.start(2))
    asyncio.run(second.start(1))

    eventually(world.running, lambda found: found == [1, 2])
    assert states(second) == {1: NodeState.RUNNING, 2: NodeState.RUNNING}
    assert sorted(world.born()) == [1, 2]


def test_a_member_that_is_asked_to_end_is_gone_when_it_has(
    make: Callable[..., ByIndex], world: Members
) -> None:
    executor = make(world)
    asyncio.run(executor.start(1))
    eventually(world.born, lambda found: found == [1])

    asyncio.run(executor.stop(1))

    eventually(lambda: states(executor), lambda found: found == {})
    assert [index for index, _ in world.told("asked")] == [1]
    asyncio.run(executor.stop(1))
    asyncio.run(executor.kill(1))


def test_a_member_that_does_not_end_is_seen_stopping_and_can_be_killed(
    make: Callable[..., ByIndex], world: Members
) -> None:
    executor = make(world, is_stubborn=True)
    asyncio.run(executor.start(1))
    eventually(world.born, lambda found: found == [1])

    asyncio.run(executor.stop(1))
    eventually(lambda: world.told("asked"), lambda found: len(found) == 1)
    stopping = states(make(world, is_stubborn=True))
    asyncio.run(executor.kill(1))

    assert stopping == {1: NodeState.STOPPING}
    eventually(lambda: states(executor), lambda found: found == {})


def test_a_member_that_was_stopped_is_started_anew(
    make: Callable[..., ByIndex], world: Members
) -> None:
    executor = make(world)
    asyncio.run(executor.start(1))
    eventually(world.born, lambda found: found == [1])
    asyncio.run(executor.stop(1))
    eventually(lambda: states(executor), lambda found: found == {})

    asyncio.run(executor.start(1))

    eventually(world.born, lambda found: found == [1, 1])
    assert states(executor) == {1: NodeState.RUNNING}


def test_what_cannot_be_run_is_not_done(world: Members) -> None:
    pool = Pool(command=("nothing-of-this-name",), folder=world.folder / "state")
    broken = Systemd(Units(template="other@.service", environ=world.systemctl()))

    for executor, words in ((Processes(pool), "No such file"), (broken, "not found")):
        with pytest.raises(NotDone, match=words):
            asyncio.run(executor.start(1))
        # Whoever was to become the program may still be ending.
        eventually(partial(states, executor), lambda found: found == {})


def test_without_systemctl_nothing_is_seen() -> None:
    executor = Systemd(Units(template="chat@.service", environ={"PATH": "nowhere"}))

    with pytest.raises(Unobservable, match="cannot be run"):
        asyncio.run(executor.observe())


def test_what_a_member_prints_is_added_to_its_file(tmp_path: Path) -> None:
    pool = Pool(
        command=("echo", "{index} in", "$PWD"),
        folder=tmp_path / "state",
        directory=str(tmp_path),
        log=str(tmp_path / "chat-{index}.log"),
    )

    asyncio.run(Processes(pool).start(3))

    log = tmp_path / "chat-3.log"
    eventually(lambda: log.read_text() if log.exists() else "", lambda text: text == "3 in $PWD\n")


class Numbers:
    """A server of a number, which remembers keys; it may act and not answer."""

    def __init__(self, replicas: int) -> None:
        self.replicas = replicas
        self.keys: list[str] = []
        self.orders: list[Body] = []
        self.hangs = self.refuses = False
        self.server: Extender | None = None

    def answer(self, path: str, request: Body) -> Reply | Body:
        """Answer one request."""
        if path == "/members":
            return {"replicas": self.replicas}
        assert self.server is not None
        if self.refuses:
            return Reply(status=422)
        key = self.server.headers[-1]["Idempotency-Key"]
        if key not in self.keys:
            self.keys.append(key)
            self.orders.append(request)
            self.replicas = request["desired"]
        return Reply(hangs=True) if self.hangs else {}


class ScaleApi:
    """An API server with one scale."""

    def __init__(self, replicas: int) -> None:
        self.spec = self.status = replicas
        self.version = 1
        self.code = 200

    async def send(self, request: Request) -> Answer:
        """Read or write the scale."""
        assert request.path == "/apis/apps/v1/namespaces/game/statefulsets/chat/scale"
        if request.method == "PATCH":
            return self._patched(dict(request.body or {}))
        document = {
            "metadata": {"resourceVersion": str(self.version)},
            "spec": {"replicas": self.spec},
            "status": {"replicas": self.status},
        }
        return Answer(status=200, body=json.dumps(document).encode())

    def _patched(self, body: dict[str, Any]) -> Answer:
        if self.code in {200, 504} and body["metadata"]["resourceVersion"] != str(self.version):
            return Answer(status=409, body=b"{}")
        if self.code in {200, 504}:
            self.spec = body["spec"]["replicas"]
            self.version += 1
        return Answer(status=self.code, body=b"{}")

    def stream(self, path: str, query: Query) -> Any:
        """Follow nothing."""
        raise AssertionError("an executor follows nothing")


def order(desired: int, *, current: int = 2, keep: tuple[int, ...] = ()) -> ScaleOrder:
    """Return an order of generation 8."""
    return ScaleOrder(generation=8, desired=desired, current=current, keep=keep)


class CommandSide:
    """Commands that keep a number in a file."""

    def __init__(self, folder: Path) -> None:
        self.file = NumberFile(folder, 2)

    def run(self, work: Callable[[ByNumber], Any]) -> Any:
        called = Called(
            workload="chat",
            command=self.file.command("scale"),
            observe=self.file.command("observe"),
            timeout_s=2.0,
        )
        return asyncio.run(work(Commands(called)))

    def refuse(self) -> None:
        self.file.put(refuses=True)

    def hang(self) -> None:
        self.file.put(hangs=True)


class WebhookSide:
    """A server that keeps a number."""

    def __init__(self) -> None:
        self.numbers = Numbers(2)

    def run(self, work: Callable[[ByNumber], Any]) -> Any:
        async def opened(url: str) -> Any:
            hook = Hook(
                workload="chat", url=f"{url}/scale", observe_url=f"{url}/members", timeout_s=SOON_S
            )
            async with Webhook(hook) as executor:
                return await work(executor)

        with serving(self.numbers.answer) as server:
            self.numbers.server = server
            return asyncio.run(opened(server.url))

    def refuse(self) -> None:
        self.numbers.refuses = True

    def hang(self) -> None:
        self.numbers.hangs = True


class ScaleSide:
    """The scale of a workload in a cluster."""

    def __init__(self) -> None:
        self.api = ScaleApi(2)

    def run(self, work: Callable[[ByNumber], Any]) -> Any:
        place = Place(namespace="game", name="chat")
        return asyncio.run(work(KubeScale(self.api, place)))

    def refuse(self) -> None:
        self.api.code = 403

    def hang(self) -> None:
        self.api.code = 504


Side = CommandSide | WebhookSide | ScaleSide


@pytest.fixture(params=["commands", "webhook", "scale"])
def side(request: pytest.FixtureRequest, tmp_path: Path) -> Side:
    """One of the executors by number, with what stands behind it."""
    match request.param:
        case "commands":
            return CommandSide(tmp_path)
        case "webhook":
            return WebhookSide()
        case _:
            return ScaleSide()


def test_a_number_is_taken_and_the_same_twice_has_one_effect(side: Side) -> None:
    async def work(executor: ByNumber) -> tuple[Observation, Observation]:
        before = await executor.observe()
        await executor.scale(order(3))
        between = await executor.observe()
        await executor.scale(order(3))
        assert await executor.observe() == between
        return before, between

    before, after = side.run(work)

    assert (before.replicas, after.replicas) == (2, 3)


def test_a_number_that_is_refused_has_no_effect(side: Side) -> None:
    side.refuse()

    async def work(executor: ByNumber) -> Observation:
        await executor.observe()
        with pytest.raises(NotDone):
            await executor.scale(order(3))
        return await executor.observe()

    assert side.run(work).replicas == 2


def test_f_23_who_acts_and_does_not_answer_in_time_may_have_acted(side: Side) -> None:
    side.hang()

    async def work(executor: ByNumber) -> Observation:
        await executor.observe()
        with pytest.raises(OutcomeUnknown):
            await executor.scale(order(3))
        return await executor.observe()

    assert side.run(work).replicas == 3


def test_f_10_a_webhook_that_is_called_twice_creates_once() -> None:
    side = WebhookSide()

    async def work(executor: ByNumber) -> None:
        await executor.scale(order(3, keep=(1, 2)))
        await executor.scale(order(3, keep=(1, 2)))

    side.run(work)

    assert side.numbers.keys == ["chat/8/3"]
    assert side.numbers.orders == [
        {"workload": "chat", "generation": 8, "desired": 3, "current": 2, "keep": [1, 2]}
    ]


def test_a_command_finds_the_order_in_its_environment(tmp_path: Path) -> None:
    side = CommandSide(tmp_path)

    side.run(lambda executor: executor.scale(order(3, keep=(1, 2))))

    assert side.file.orders == [["chat", "8", "3", "2", "1,2"]]


def test_a_server_that_is_not_there_was_told_nothing() -> None:
    hook = Hook(workload="chat", url="http://127.0.0.1:9/", observe_url="http://127.0.0.1:9/")

    async def work() -> None:
        async with Webhook(hook) as executor:
            with pytest.raises(NotDone, match="cannot be reached"):
                await executor.scale(order(3))
            with pytest.raises(Unobservable):
                await executor.observe()

    asyncio.run(work())


def test_a_scale_that_somebody_else_wrote_is_not_written_over() -> None:
    side = ScaleSide()

    async def work(executor: ByNumber) -> None:
        await executor.observe()
        side.api.version += 1
        with pytest.raises(NotDone, match="decide again"):
            await executor.scale(order(3))

    side.run(work)


def test_a_scale_tells_pods_that_come_and_go() -> None:
    side = ScaleSide()
    side.api.spec, side.api.status = 1, 2
    going = side.run(lambda executor: executor.observe())
    side.api.spec, side.api.status = 3, 2
    coming = side.run(lambda executor: executor.observe())

    assert [each.state for each in going.members] == [NodeState.RUNNING, NodeState.STOPPING]
    assert [each.state for each in coming.members][2:] == [NodeState.STARTING]


def test_a_member_has_its_signals_as_they_are_by_default(tmp_path: Path) -> None:
    pool = Pool(
        command=("grep", "-E", "Sig(Ign|Blk)", "/proc/self/status"),
        folder=tmp_path / "state",
        log=str(tmp_path / "signals.log"),
    )

    asyncio.run(Processes(pool).start(1))

    log = tmp_path / "signals.log"
    text = eventually(
        lambda: log.read_text() if log.exists() else "", lambda found: found.count("\n") == 2
    )
    blocked, ignored = (int(line.split()[1], 16) for line in text.splitlines())
    # Python ignores two; what else is ignored here, as under nohup, is so by the wish of whoever runs this.
    ours = [
        int(line.split()[1], 16) for line in STATUS.read_text().splitlines() if "SigIgn" in line
    ]
    pythons = sum(1 << each - 1 for each in (signal.SIGPIPE, signal.SIGXFSZ))
    assert pythons & ours[0] == pythons
    assert (blocked, ignored & ~(ours[0] & ~pythons)) == (0, 0)
