"""The machine's clock and seeded chance."""

import os
import subprocess
import sys
from collections import Counter

import pytest

from springtide.edge.machine import MachineClock, SeededRng, cores


def test_the_clock_never_runs_backwards() -> None:
    clock = MachineClock()

    readings = [clock.monotonic_s() for _ in range(100)]

    assert readings == sorted(readings)


def test_time_of_the_processor_passes_with_work_alone() -> None:
    clock = MachineClock()
    before_s = clock.processor_s()

    sum(range(1_000_000))

    assert clock.processor_s() > before_s


def test_there_is_a_core_to_run_on() -> None:
    assert 1 <= cores() <= (os.cpu_count() or 1)


@pytest.mark.parametrize("seed", [0, 7, -1, 1 << 70])
def test_the_same_seed_draws_the_same(seed: int) -> None:
    one, two = SeededRng(seed), SeededRng(seed)

    assert [one.choice_index(10) for _ in range(50)] == [two.choice_index(10) for _ in range(50)]


def test_known_draws_stay_as_they_are() -> None:
    rng = SeededRng(0)

    assert [rng.choice_index(1 << 64) for _ in range(2)] == [
        0xE220A8397B1DCDAF,
        0x6E789E6AA1B965F4,
    ]


def test_every_choice_comes_about_equally_often() -> None:
    rng = SeededRng(1)

    counts = Counter(rng.choice_index(3) for _ in range(3000))

    assert set(counts) == {0, 1, 2}
    assert all(900 < count < 1100 for count in counts.values())


def test_a_process_may_have_more_files_open_than_a_shell_gives_it() -> None:
    code = """
import resource
from springtide.edge.machine import allow_open_files
hard = min(resource.getrlimit(resource.RLIMIT_NOFILE)[1], 512)
resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))
print(allow_open_files(256), allow_open_files(100), allow_open_files(10_000), hard)
print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
"""

    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    raised, kept, most, hard, now = map(int, found.stdout.split())
    assert (raised, kept) == (256, 256)
    assert most == hard == now
