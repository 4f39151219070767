"""Programs beside a test end with it, however it ends."""

import fcntl
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.e2e.processes import Processes

ROOT = Path(__file__).parents[3]
LIMIT_S = 20.0
# Holds a lock as long as it lives, which the system takes back however it ends.
LASTING = """
import fcntl, signal, sys
stubborn, name = sys.argv[1:]
if stubborn == "yes":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
held = open(name, "w")
fcntl.flock(held, fcntl.LOCK_EX)
print("first\\nup", flush=True)
signal.pause()
"""
# A test run that never comes to its end.
HANGING = """
import pathlib, sys
from tests.e2e.processes import Processes
from tests.unit.e2e.test_processes import started
folder = pathlib.Path(sys.argv[1])
with Processes(folder) as processes:
    started(processes, folder)
    print("holding", flush=True)
    sys.stdin.read()
"""


def lasting(folder: Path, *, stubborn: bool = False) -> Sequence[str]:
    return [
        *(sys.executable, "-S", "-c", LASTING, "yes" if stubborn else "no"),
        str(folder / "lock"),
    ]


def started(processes: Processes, folder: Path, *, stubborn: bool = False) -> None:
    """Start the program and wait until it holds its lock."""
    processes.start("lasting", lasting(folder, stubborn=stubborn))
    wait_up(processes)


def wait_up(processes: Processes) -> None:
    processes.wait_until(
        lambda: "up" in processes.tail("lasting", 1), "up", name="lasting", limit_s=LIMIT_S
    )


def is_held(folder: Path) -> bool:
    with (folder / "lock").open() as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


@pytest.mark.parametrize("stubborn", [False, True])
def test_programs_end_with_the_block(*, stubborn: bool, tmp_path: Path) -> None:
    with Processes(tmp_path, patience_s=0.2) as processes:
        started(processes, tmp_path, stubborn=stubborn)
        held = is_held(tmp_path)

    assert held
    assert not is_held(tmp_path)


def test_programs_end_with_a_run_that_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HANGING, str(tmp_path)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == b"holding\n"
        held = is_held(tmp_path)

        run.kill()

    with (tmp_path / "lock").open() as lock:
        # Returns when the program is gone; the limit of the test ends it otherwise.
        fcntl.flock(lock, fcntl.LOCK_EX)
    assert held


def test_a_program_can_be_stopped_and_started_again(tmp_path: Path) -> None:
    with Processes(tmp_path) as processes:
        started(processes, tmp_path)
        processes.stop("lasting")
        between = is_held(tmp_path)
        processes.again("lasting")
        processes.wait_until(lambda: is_held(tmp_path), "up", name="lasting", limit_s=LIMIT_S)

        assert not between
        assert processes.names == ("lasting",)


def test_a_program_that_ends_early_is_reported_with_its_last_words(tmp_path: Path) -> None:
    failing = [sys.executable, "-S", "-c", "print('the port is taken'); raise SystemExit(3)"]

    with Processes(tmp_path) as processes:
        processes.start("failing", failing)
        with pytest.raises(AssertionError, match=r"failing ended with 3:\nthe port is taken"):
            processes.wait_until(lambda: False, "ready", name="failing", limit_s=LIMIT_S)


def test_a_program_that_does_not_get_ready_is_reported_with_its_last_words(
    tmp_path: Path,
) -> None:
    with Processes(tmp_path) as processes:
        started(processes, tmp_path)
        with pytest.raises(AssertionError, match=r"lasting is not ready within 0 s:\nfirst\nup"):
            processes.wait_until(lambda: False, "ready", name="lasting", limit_s=0)
