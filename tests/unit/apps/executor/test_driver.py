"""The driver in virtual time: late executors, a stop in the middle, and what it shows of itself."""

import asyncio
from math import isnan
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from springtide.apps.executor.applied import Applied, Unremembered
from springtide.apps.executor.driver import Driver, Pace
from springtide.apps.executor.figures import Figures
from springtide.apps.executor.performing import Performing
from springtide.edge.executors import ByIndex, Executor, NotDone, Unobservable
from springtide.engine.replicas.executing import ExecutionRules, Phase, Wish
from springtide.model.replicas.execution import Node, Observation, ScaleOrder
from tests.loopback import Told
from tests.virtual import LoopClock, run

FOREVER_S = 10_000.0


class Shelf:
    """Members in memory, by index; every call may take its time or fail."""

    def __init__(self) -> None:
        self.members: set[int] = set()
        self.starts: list[int] = []
        self.start_s = 0.0
        self.fault: Exception | None = None

    async def observe(self) -> Observation:
        """Return who is there."""
        if self.fault is not None:
            raise self.fault
        nodes = tuple(Node(id=str(index), index=index) for index in sorted(self.members))
        return Observation(replicas=len(nodes), nodes=nodes)

    async def start(self, index: int) -> None:
        """Start one, and answer when it is time."""
        self.starts.append(index)
        self.members.add(index)
        await asyncio.sleep(self.start_s)

    async def stop(self, index: int) -> None:
        """End one."""
        self.members.discard(index)

    async def kill(self, index: int) -> None:
        """End one."""
        raise NotDone(f"Member {index} is immortal.")


class Counter:
    """A number in memory."""

    def __init__(self) -> None:
        self.orders: list[ScaleOrder] = []

    async def observe(self) -> Observation:
        """Return how many there are."""
        return Observation(replicas=self.orders[-1].desired if self.orders else 1)

    async def scale(self, order: ScaleOrder) -> None:
        """Have so many."""
        self.orders.append(order)


class Steady:
    """Always the same wish."""

    def __init__(self, expect: int, *, generation: int = 8) -> None:
        self.told = Wish(
            generation=generation, expect=expect, floor=0, ready=frozenset(), spoken=None
        )

    async def wish(self) -> Wish:
        """Return it."""
        return self.told


class World:
    """A driver with what it writes and shows."""

    def __init__(self, folder: Path, executor: Executor, wishes: Steady) -> None:
        self.log = Told()
        self.registry = CollectorRegistry()
        self.driver = Driver(
            ExecutionRules(most=9, by_number=not isinstance(executor, ByIndex)),
            Performing(executor, clock=LoopClock(), timeout_s=1.0),
            wishes,
            applied=Applied(folder),
            pace=Pace(interval_s=5.0, look_s=1.0),
            figures=Figures(self.registry, "chat"),
            log=self.log,
        )

    def figure(self, name: str) -> float | None:
        """Return one of its metrics."""
        return self.registry.get_sample_value(name, {"hpa_target_name": "chat"})


async def drive(driver: Driver, seconds: float) -> None:
    """Let it run so long."""
    task = asyncio.create_task(driver.run())
    await asyncio.sleep(seconds)
    driver.stop()
    await task


def test_it_starts_what_is_missing_and_comes_to_rest(tmp_path: Path) -> None:
    shelf = Shelf()

    async def work() -> World:
        world = World(tmp_path, shelf, Steady(3))
        await drive(world.driver, 30)
        return world

    world = run(work())

    assert shelf.starts == [1, 2, 3]
    assert world.driver.state.phase is Phase.STEADY
    assert [each.number for each in world.driver.orders] == [1, 2, 3]
    assert (world.figure("hpa_executor_desired"), world.figure("hpa_executor_observed")) == (3, 3)
    assert Applied(tmp_path).read() == 8
    assert len(world.log.of("start")) == 3


def test_a_number_is_ordered_from_who_takes_numbers(tmp_path: Path) -> None:
    counter = Counter()

    async def work() -> None:
        await drive(World(tmp_path, counter, Steady(3)).driver, 30)

    run(work())

    assert [(each.generation, each.desired, each.current) for each in counter.orders] == [(8, 3, 1)]


def test_f_23_an_order_whose_time_is_up_has_an_unknown_outcome(tmp_path: Path) -> None:
    shelf = Shelf()
    shelf.start_s = FOREVER_S

    async def work() -> World:
        world = World(tmp_path, shelf, Steady(1))
        await drive(world.driver, 60)
        return world

    world = run(work())

    assert shelf.starts == [1]
    assert world.figure("hpa_executor_unknown_outcome_total") == 1
    assert world.log.of("outcome_unknown")[0]["number"] == 1


def test_told_to_stop_it_gives_no_more_orders_and_ends_nobody(tmp_path: Path) -> None:
    shelf = Shelf()
    shelf.start_s = 0.5

    async def work() -> None:
        await drive(World(tmp_path, shelf, Steady(3)).driver, 0.7)

    run(work())

    assert shelf.members == {1, 2}


def test_who_cannot_see_does_nothing_and_says_so(tmp_path: Path) -> None:
    shelf = Shelf()
    shelf.fault = Unobservable("It is dark.")

    async def work() -> World:
        world = World(tmp_path, shelf, Steady(3))
        await drive(world.driver, 30)
        return world

    world = run(work())

    observed = world.figure("hpa_executor_observed")
    assert shelf.starts == []
    assert world.driver.blind == "It is dark."
    assert observed is not None
    assert isnan(observed)


def test_x_5_what_was_applied_is_read_at_the_start(tmp_path: Path) -> None:
    Applied(tmp_path).write(9)
    shelf = Shelf()

    async def work() -> World:
        world = World(tmp_path, shelf, Steady(3, generation=8))
        await drive(world.driver, 30)
        return world

    world = run(work())

    assert shelf.starts == []
    assert world.figure("hpa_executor_observed") == 0
    assert len(world.log.of("refused")) == 1
    assert (world.figure("hpa_executor_refused_total") or 0) > 1


def test_a_generation_that_cannot_be_kept_is_told(tmp_path: Path) -> None:
    async def work() -> World:
        world = World(tmp_path / "nowhere", Shelf(), Steady(1))
        await drive(world.driver, 10)
        return world

    assert run(work()).log.of("unremembered")


@pytest.mark.parametrize("text", ["", "8", '{"generation": "x"}'])
def test_a_damaged_file_does_not_count_as_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "applied.json").write_text(text)

    with pytest.raises(Unremembered, match="Remove it"):
        Applied(tmp_path).read()
