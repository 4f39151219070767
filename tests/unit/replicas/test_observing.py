"""Observers: what they say, what is skipped, and what is refused."""

from collections.abc import Callable

import pytest

from springtide.edge.machine import MachineClock
from springtide.edge.usage import MachineUsage
from springtide.replicas.observing import (
    LABELS_MAX,
    OBSERVE_S_MAX,
    OBSERVERS_MAX,
    SERIES_MAX,
    STALE_S_MAX,
    Observed,
    Observers,
)
from springtide.replicas.process_load import ProcessLoad, RecentTasks
from tests.member_exports import Hand, Used


class Hidden:
    """Does not look like a coroutine function, and is one."""

    def __call__(self) -> object:
        """Return what one would have to wait for."""
        return wait()


async def wait() -> int:
    """Say something, some time."""
    return 1


class Later:
    """Keeps work until it is done."""

    def __init__(self) -> None:
        self.work: list[Callable[[], None]] = []

    def __call__(self, work: Callable[[], None]) -> None:
        """Keep it."""
        self.work.append(work)

    def do(self) -> None:
        """Do all of it."""
        work, self.work = self.work, []
        for each in work:
            each()


def test_numbers_are_shown_with_their_labels() -> None:
    observers = Observers(Hand())
    observers.add("rooms", lambda: 3)
    observers.add("rooms", lambda: 1.5, labels={"map.name": "moon"})

    assert observers.samples("rooms") == [((), 3.0), ((("map_name", "moon"),), 1.5)]


def test_one_observer_says_several_values() -> None:
    observers = Observers(Hand())
    observers.add("rooms", lambda: [Observed(1, {"map": "a"}), Observed(2, {"map": "b"})])

    assert observers.samples("rooms") == [((("map", "a"),), 1.0), ((("map", "b"),), 2.0)]


@pytest.mark.parametrize("value", [None, float("nan"), -(2**63)])
def test_no_number_is_no_sample(value: float | None) -> None:
    observers = Observers(Hand())
    observers.add("rooms", lambda: value)

    assert observers.samples("rooms") == []
    assert observers.skipped() == {}


def test_one_that_fails_is_skipped_and_counted_and_stops_nobody() -> None:
    observers = Observers(Hand())
    observers.add("rooms", lambda: 1 // 0)
    observers.add("rooms", lambda: 2, labels={"map": "a"})

    assert observers.samples("rooms") == [((("map", "a"),), 2.0)]
    assert observers.skipped() == {("rooms", "failed"): 1}


def test_one_that_waits_is_refused() -> None:
    """Covers R-54."""

    observers = Observers(Hand())
    observers.add("hidden", Hidden())  # type: ignore[arg-type]

    with pytest.raises(ValueError, match="plain one"):
        observers.add("rooms", wait)  # type: ignore[arg-type]
    assert observers.samples("hidden") == []
    assert observers.skipped() == {("hidden", "failed"): 1}


def test_one_that_is_too_slow_is_skipped() -> None:
    hand = Hand()
    observers = Observers(hand)

    def slow() -> int:
        hand.passed_s += OBSERVE_S_MAX + 0.1
        return 1

    observers.add("rooms", slow)

    assert observers.samples("rooms") == []
    assert observers.skipped() == {("rooms", "slow"): 1}


def test_one_that_blocks_shows_what_it_said_last_and_makes_nobody_wait() -> None:
    hand, later = Hand(), Later()
    observers = Observers(hand, spawn=later)
    observers.add("rooms", lambda: 7, is_blocking=True)

    first = observers.samples("rooms")
    later.do()
    second = observers.samples("rooms")
    hand.passed_s = STALE_S_MAX + 1
    third = observers.samples("rooms")

    assert (first, second, third) == ([], [((), 7.0)], [])
    assert len(later.work) == 1
    assert observers.skipped() == {("rooms", "slow"): 1}


def test_one_that_blocks_and_fails_is_counted() -> None:
    observers = Observers(Hand(), spawn=lambda work: work())
    observers.add("rooms", lambda: 1 // 0, is_blocking=True)

    assert observers.samples("rooms") == []
    assert observers.skipped() == {("rooms", "failed"): 1}


def test_a_later_observer_takes_the_place_of_an_earlier_one() -> None:
    observers = Observers(Hand())
    end = observers.add("rooms", lambda: 1)
    observers.add("rooms", lambda: 2)

    end()

    assert observers.samples("rooms") == [((), 2.0)]


def test_an_observer_ends() -> None:
    observers = Observers(Hand())
    end = observers.add("rooms", lambda: 1)

    end()

    assert not observers.has("rooms")
    assert observers.samples("rooms") == []


def test_sets_of_labels_are_bounded_for_good() -> None:
    """Covers R-54."""
    observers, given = Observers(Hand()), iter(range(10_000))
    observers.add("rooms", lambda: [Observed(1, {"user": str(next(given))}) for _ in range(60)])

    counts = [len(observers.samples("rooms")) for _ in range(3)]

    assert counts == [60, SERIES_MAX - 60, 0]
    assert observers.skipped()["rooms", "refused"] == 3 * 60 - SERIES_MAX


def test_the_same_labels_twice_are_one_sample() -> None:
    observers = Observers(Hand())
    observers.add("rooms", lambda: [Observed(1), Observed(2)])

    assert observers.samples("rooms") == [((), 1.0)]
    assert observers.skipped() == {("rooms", "refused"): 1}


def test_too_many_labels_are_refused() -> None:
    observers = Observers(Hand())
    labels = {f"l{index}": "" for index in range(LABELS_MAX + 1)}

    with pytest.raises(ValueError, match=f"{LABELS_MAX} are the most"):
        observers.add("rooms", lambda: 1, labels=labels)


def test_too_many_observers_are_refused() -> None:
    observers = Observers(Hand())
    for index in range(OBSERVERS_MAX):
        observers.add("rooms", lambda: 1, labels={"n": str(index)})

    with pytest.raises(ValueError, match="end some first"):
        observers.add("others", lambda: 1)


def test_shares_are_of_the_time_since_the_last_export() -> None:
    hand, used = Hand(), Used()
    load = ProcessLoad(used, hand, export_interval_s=10)

    hand.passed_s, used.processor, used.loop, used.resident = 8.0, 4.0, 2.0, 5
    early = (load.cpu_permillage(), load.memory_bytes())
    hand.passed_s, used.processor, used.loop = 10.0, 15.0, 2.5
    due = (load.cpu_permillage(), load.main_thread_permillage(), load.memory_bytes())
    hand.passed_s, used.processor = 12.0, 99.0
    cached = load.cpu_permillage()

    assert early == (None, 1 << 20)
    assert due == (1500, 250, 5)
    assert cached == 1500


def test_what_the_system_does_not_say_is_not_shown() -> None:
    hand, used = Hand(), Used()
    used.loop = None
    load = ProcessLoad(used, hand, export_interval_s=10)
    hand.passed_s = 10

    assert load.main_thread_permillage() is None


def test_peaks_of_tasks_last_for_an_interval_and_no_longer_than_two() -> None:
    hand = Hand()
    tasks = RecentTasks(hand, period_s=10)
    nothing = tasks.recent_max()

    with tasks.counted(), tasks.counted():
        pass
    hand.passed_s = 9
    soon = tasks.recent_max()
    hand.passed_s = 19
    still = tasks.recent_max()
    hand.passed_s = 40
    forgotten = tasks.recent_max()

    assert (nothing, soon, still, forgotten) == (None, 2, 2, 0)


def test_tasks_that_go_on_are_not_forgotten() -> None:
    hand = Hand()
    tasks = RecentTasks(hand, period_s=10)
    tasks.seen(6)

    hand.passed_s = 100

    assert tasks.recent_max() == 6


def test_this_machine_tells_what_this_process_uses() -> None:
    usage, clock = MachineUsage(), MachineClock()
    before_s = (usage.processor_s(), usage.loop_s())
    began_s = clock.monotonic_s()

    while clock.monotonic_s() - began_s < 0.05:
        pass

    assert (usage.processor_s() or 0) > (before_s[0] or 0)
    assert (usage.loop_s() or 0) > (before_s[1] or 0)
    assert (usage.resident_bytes() or 0) > 1 << 20
