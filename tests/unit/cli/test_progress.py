"""How far long work is, on a terminal and only there."""

import io
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from springtide.cli.progress import ERASE, Note, Progress, reading
from springtide.wire.source import Source

ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = ROOT / "examples" / "card-memory"
COMMAND = [sys.executable, "-m", "springtide", "plan", "-", "-o", "name"]


def test_a_note_says_what_is_done_and_how_far_it_is() -> None:
    note = Note()
    note.begin("Planning: step 3")
    note.placed(1204, 2000)

    assert note.text(80) == "Planning: step 3, 1,204 of 2,000 pods placed…"


def test_what_begins_has_placed_nothing_yet() -> None:
    note = Note()
    note.placed(1204, 2000)
    note.begin("Explaining what fits nowhere")

    assert note.text(80) == "Explaining what fits nowhere…"


def test_nothing_is_said_before_anything_begins() -> None:
    assert Note().text(80) == ""


@pytest.mark.parametrize("width", [20, 40, 50])
def test_a_note_stays_within_the_line(width: int) -> None:
    note = Note()
    note.begin("Planning: the nodes that are there")
    note.placed(100_000, 200_000)

    assert len(note.text(width)) < width


@pytest.mark.parametrize(
    ("size", "text"), [(66_400_000, "Reading 66 MB"), (999_999, "Reading the input")]
)
def test_reading_says_how_much(size: int, text: str) -> None:
    assert (
        reading([Source("a", b" " * (size // 2)), Source("b", b" " * (size - size // 2))]) == text
    )


def test_short_work_shows_nothing() -> None:
    terminal = io.StringIO()

    with Progress(terminal) as progress:
        progress.begin("Planning: step 1")

    assert terminal.getvalue() == ""


def test_nobody_who_cannot_see_it_is_shown_anything() -> None:
    threads = threading.active_count()

    with Progress(io.StringIO(), is_shown=False) as progress:
        progress.begin("Planning: step 1")
        threads_then = threading.active_count()

    assert threads_then == threads


def test_a_terminal_shows_long_work_in_a_line_that_is_erased() -> None:
    master, slave = os.openpty()
    piped = (EXAMPLE / "cluster.yaml").read_bytes() + (
        b"---\n" + (EXAMPLE / "groups.yaml").read_bytes()
    )

    with subprocess.Popen(
        COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=slave
    ) as process:
        os.close(slave)
        # It has nothing to read until the line is there.
        shown = os.read(master, 4096)
        answer, _ = process.communicate(piped)
        shown += drained(master)
    os.close(master)

    assert answer == b"nodegroup.springtide.io/l40s\n"
    assert shown.startswith(f"{ERASE}Reading the input…".encode())
    assert shown.endswith(ERASE.encode())
    assert b"\n" not in shown


def test_events_take_the_place_of_the_line() -> None:
    master, slave = os.openpty()

    with subprocess.Popen(
        [sys.executable, "-m", "springtide", "plan", str(EXAMPLE), "-v2"],
        stdout=subprocess.DEVNULL,
        stderr=slave,
    ):
        os.close(slave)
        shown = drained(master)
    os.close(master)

    assert ERASE.encode() not in shown
    assert shown.startswith(b"nodes_filled ")


def drained(master: int) -> bytes:
    """What a terminal shows until its last writer is gone."""
    parts = []
    try:
        while part := os.read(master, 4096):
            parts.append(part)
    except OSError:
        pass
    return b"".join(parts)
