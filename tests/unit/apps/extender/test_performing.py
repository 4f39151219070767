"""Commands are performed in order and within bounds, and what came of them is told."""

import asyncio

from springtide.apps.extender.announcing import WAIT_S, WAITING_MAX
from springtide.apps.extender.performing import Pace, Performer
from springtide.edge.cluster import Metadata, Target
from springtide.edge.machine import MachineCalendar
from springtide.engine.live import (
    AnswerBind,
    CreateBinding,
    Done,
    Failed,
    Fault,
    NodeRead,
    Outcome,
    PatchNode,
    PatchPod,
    PodRead,
    ReadNode,
    ReadPod,
    RecordEvent,
)
from springtide.model.occurrence import Occurrence
from tests import virtual
from tests.loopback import Told
from tests.memorycluster import MemoryCluster
from tests.objectstore import ObjectStore
from tests.running import NODES, World, run

PACE = Pace(request_s=5.0, requests_max=4, commands_max=100)
WIDE = Pace(request_s=5.0, requests_max=4, commands_max=100_000)


class Silent(MemoryCluster):
    """A cluster that never answers a patch."""

    async def patch(self, target: Target, change: Metadata) -> str:
        """Wait for ever."""
        await asyncio.Event().wait()
        return await super().patch(target, change)


class Heard:
    """Outcomes and answers as they came."""

    def __init__(self, performer: Performer) -> None:
        self.outcomes: list[tuple[str, Outcome]] = []
        self.answers: list[AnswerBind] = []
        performer.tell = lambda bind, outcome: self.outcomes.append((bind, outcome))
        performer.answer = self.answers.append


def performer(cluster: MemoryCluster, *, pace: Pace = PACE) -> Performer:
    """Return who performs on a cluster."""
    return Performer(cluster, MachineCalendar(), pace=pace, component="x", log=Told())


def patch(value: str, *, version: str = "", bind: str = "b") -> PatchNode:
    """Return a patch of the node."""
    return PatchNode(name="a", annotations={"k": value}, version=version, bind=bind)


def test_each_outcome_is_told_as_what_it_is() -> None:
    world = World()
    world.add_node("a")
    pod = world.add_pod("train", gpu=1)
    uid = pod["metadata"]["uid"]

    async def work() -> None:
        async with performer(MemoryCluster(world.store)) as found:
            heard = Heard(found)
            for command in (
                patch("1"),
                patch("2", version="1"),
                ReadNode(name="a", bind="b"),
                ReadNode(name="nowhere", bind="b"),
                ReadPod(namespace="team", name="train", bind="b"),
                PatchPod(uid="other", namespace="team", name="train", annotations={}, bind="b"),
                CreateBinding(uid=uid, namespace="team", name="train", node="a", bind="b"),
                ReadPod(namespace="team", name="train", bind="b"),
                CreateBinding(uid=uid, namespace="team", name="train", node="a", bind="b"),
                AnswerBind(uid=uid, error="why"),
            ):
                found.ask((command,))
                await found.idle()

        outcomes = [outcome for _, outcome in heard.outcomes]
        assert isinstance(outcomes[0], Done)
        assert isinstance(outcomes[2], NodeRead)
        assert outcomes[2].annotations["k"] == "1"
        assert outcomes[2].version == outcomes[0].version
        assert outcomes[4] == PodRead(is_finished=False)
        assert outcomes[6] == Done()
        assert outcomes[7] == PodRead(is_finished=False, node="a")
        faults = [each.fault for each in outcomes if isinstance(each, Failed)]
        assert faults == [Fault.CONFLICT, Fault.NOT_FOUND, Fault.CONFLICT, Fault.CONFLICT]
        assert heard.answers == [AnswerBind(uid=uid, error="why")]

    run(work())


def test_commands_for_one_node_keep_their_order() -> None:
    world = World()
    world.add_node("a")

    async def work() -> None:
        async with performer(MemoryCluster(world.store)) as found:
            found.ask(tuple(patch(str(each), bind="") for each in range(50)))
            await found.idle()

        node = world.store.read(NODES, "", "a")
        assert node["metadata"]["annotations"]["k"] == "49"
        assert found.waiting == 0

    run(work())


def test_commands_for_one_pod_keep_their_order_whether_a_bind_asks_or_not() -> None:
    world = World()
    pod = world.add_pod("train", gpu=1)
    uid = pod["metadata"]["uid"]

    async def work() -> None:
        async with performer(MemoryCluster(world.store)) as found:
            Heard(found)
            for each in range(50):
                notes = {"k": str(each)}
                bind = "b" if each % 2 else ""
                found.ask(
                    (
                        PatchPod(
                            uid=uid, namespace="team", name="train", annotations=notes, bind=bind
                        ),
                    )
                )
            await found.idle()

        assert world.annotations("train")["k"] == "49"

    run(work())


def test_an_api_server_that_says_nothing_is_waited_for_only_so_long() -> None:
    world = World()
    world.add_node("a")
    pace = Pace(request_s=0.01, requests_max=1, commands_max=100)

    async def work() -> None:
        async with performer(Silent(world.store), pace=pace) as found:
            heard = Heard(found)
            found.ask((patch("1"), patch("2", bind="c")))
            await found.idle()

        assert [bind for bind, _ in heard.outcomes] == ["b", "c"]
        for _, outcome in heard.outcomes:
            assert isinstance(outcome, Failed)
            assert outcome.fault is Fault.OTHER
            assert "no answer within" in outcome.message

    run(work())


def test_more_than_there_is_room_for_is_given_up_at_once() -> None:
    world = World()
    world.add_node("a")
    pace = Pace(request_s=5.0, requests_max=1, commands_max=1)

    async def work() -> None:
        async with performer(Silent(world.store), pace=pace) as found:
            heard = Heard(found)
            found.ask((patch("1", bind=""), patch("2", bind="c"), patch("3", bind="")))

            assert [bind for bind, _ in heard.outcomes] == ["c"]
            assert found.dropped == 2

    run(work())


class Slow(MemoryCluster):
    """A cluster whose patches take a while, and that notes when what was done."""

    def __init__(self, store: ObjectStore) -> None:
        super().__init__(store)
        self.done: list[str] = []

    async def patch(self, target: Target, change: Metadata) -> str:
        """Take two seconds."""
        await asyncio.sleep(2.0)
        self.done.append("patch")
        return await super().patch(target, change)

    async def record(self, occurrence: Occurrence) -> None:
        """Take no time."""
        del occurrence
        self.done.append("event")


def event(message: str = "m") -> RecordEvent:
    """Return an event on a pod."""
    return RecordEvent(uid="u", namespace="team", name="train", reason="R", message=message)


def test_an_event_waits_until_nothing_else_is_to_be_done() -> None:
    world = World()
    world.add_node("a")
    cluster = Slow(world.store)

    async def work() -> None:
        async with performer(cluster) as found:
            Heard(found)
            found.ask((event(), patch("1"), patch("2")))
            await found.idle()

    virtual.run(work())

    assert cluster.done == ["patch", "patch", "event"]


def test_an_event_waits_only_so_long() -> None:
    world = World()
    world.add_node("a")
    cluster = Slow(world.store)

    async def work() -> None:
        async with performer(cluster) as found:
            Heard(found)
            found.ask((event(), *(patch(str(each)) for each in range(10))))
            await found.idle()

    virtual.run(work())

    assert cluster.done.index("event") == int(WAIT_S / 2.0)


def test_events_beyond_those_that_may_wait_are_not_told() -> None:
    world = World()
    world.add_node("a")

    async def work() -> int:
        async with performer(Slow(world.store), pace=WIDE) as found:
            Heard(found)
            found.ask((patch("1"), *(event(str(each)) for each in range(WAITING_MAX + 3))))
            return found.dropped

    assert virtual.run(work()) == 3
