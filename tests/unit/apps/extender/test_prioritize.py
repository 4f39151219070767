"""/prioritize, and the way of a pod whose node the scheduler chooses: recorded calls, faults, followers."""

import json
from pathlib import Path

import pytest

from springtide.apps.extender import Deadlines, Settings, Sizes
from springtide.engine.live import LiveSettings
from tests.builders import card
from tests.loopback import call
from tests.running import NODE, SCHEDULER, Unwilling, World, live_of, run, running

CALLS = Path(__file__).parents[3] / "recorded" / "kube-extender-calls"
OFFERS = LiveSettings(
    scheduler_name=SCHEDULER, single_wait_s=5.0, leaves_choice=True, writes_at_bind=True
)
A100 = "NVIDIA A100-SXM4-80GB"


def two_nodes() -> World:
    """Return the nodes of the recordings."""
    world = World()
    for name in ("gpu-1", "gpu-2"):
        cards = (card(f"GPU-{name}-{index}", model=A100, memory=81920) for index in range(2))
        world.add_node(name, *cards)
    return world


# The pod of the second asks for no card until admission has made it ask for one.
@pytest.mark.parametrize(("form", "best"), [("names", 10), ("nodes", 0)])
def test_recorded_calls_are_answered_with_the_nodes_and_their_scores(form: str, best: int) -> None:
    world = two_nodes()
    filter_call, priority_call = (
        (CALLS / f"{form}-{verb}.json").read_bytes() for verb in ("filter", "prioritize")
    )

    async def work() -> None:
        async with running(Unwilling(world.store), live=live_of(OFFERS)) as extender:
            busy = world.add_pod("busy", gpu=1, gpumem=5000)
            await extender.filter(busy, "gpu-1")
            assert await extender.bind(busy, "gpu-1") == ""

            filtered = await extender.post("/filter", filter_call)
            scores = await extender.post("/prioritize", priority_call)

            items = (filtered["Nodes"] or {}).get("items", [])
            kept = filtered["NodeNames"] or [each["metadata"]["name"] for each in items]
            assert kept == ["gpu-2", "gpu-1"]
            assert filtered["Error"] == ""
            assert scores == [{"Host": "gpu-2", "Score": 0}, {"Host": "gpu-1", "Score": best}]

    run(work())


def test_the_node_that_the_scheduler_chose_is_reserved_by_the_bind() -> None:
    world = two_nodes()
    train = world.add_pod("train", gpu=1, gpumem=5000)

    async def work() -> None:
        async with running(Unwilling(world.store), live=live_of(OFFERS)) as extender:
            filtered = await extender.filter(train, "gpu-1", "gpu-2")
            before = dict(world.annotations("train"))
            error = await extender.bind(train, "gpu-2")
            await extender.settled()

            assert filtered["NodeNames"] == ["gpu-1", "gpu-2"]
            assert before == {}
            assert error == ""
            assert world.annotations("train")[NODE] == "gpu-2"
            assert world.pod("train")["spec"]["nodeName"] == "gpu-2"
            (told,) = [each for each in extender.log.of("filter") if each["pod"] == "team/train"]
            assert told["verdict"] == "offered"

    run(work())


def test_faults_are_told_by_status_because_the_answer_has_no_place_for_them() -> None:
    world = World()
    world.add_node("a")
    settings = Settings(deadlines=Deadlines(drain_s=1.0), sizes=Sizes(body_bytes=1000))

    async def work() -> None:
        async with running(Unwilling(world.store), settings=settings) as extender:
            broken = await call(extender.calls, "POST", "/prioritize", b"{")
            large = await call(extender.calls, "POST", "/prioritize", b" " * 1001)
            extender.process.scheduling.lead(is_leading=False)
            body = json.dumps({"Pod": world.add_pod("p", gpu=1), "NodeNames": ["a"]}).encode()
            following = await call(extender.calls, "POST", "/prioritize", body)

            assert (broken.status, large.status, following.status) == (400, 413, 503)
            assert b"unexpected EOF" in broken.body
            assert b"does not lead" in following.body

    run(work())
