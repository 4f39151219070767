"""Commands: their time, their words, and how much of them is read."""

import asyncio
import sys

import pytest

from springtide.edge.executors import NotDone, OutcomeUnknown
from springtide.edge.executors.running import OUTPUT_BYTES_MAX, Finished, run

PYTHON = (sys.executable, "-S", "-c")


def ran(*command: str, timeout_s: float = 10.0) -> Finished:
    """Return how a command ended."""
    return asyncio.run(run(command, timeout_s=timeout_s, environ={"WORD": "spoken"}))


def test_a_command_is_told_with_its_code_and_its_words() -> None:
    found = ran("sh", "-c", "echo $WORD; echo why >&2; exit 3")

    assert (found.code, found.output, found.complaint) == (3, b"spoken\n", b"why\n")
    assert found.words == ": why"
    assert Finished(code=0).words == ""


def test_a_command_that_is_not_there_was_not_run() -> None:
    with pytest.raises(NotDone, match="No such file"):
        ran("nothing-of-this-name")


def test_a_command_that_is_late_is_killed_with_what_it_started() -> None:
    with pytest.raises(OutcomeUnknown, match=r"within 0\.2 s"):
        ran("sh", "-c", "sleep 60 | sleep 60", timeout_s=0.2)


def test_only_so_much_is_kept_of_what_a_command_prints() -> None:
    found = ran(*PYTHON, f"print('x' * {3 * OUTPUT_BYTES_MAX})")

    assert len(found.output) == OUTPUT_BYTES_MAX
    assert found.code == 0
