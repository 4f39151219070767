"""The command as a shell sees it: a process with pipes, signals and an exit code."""

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest

ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = ROOT / "examples" / "card-memory"
COMMAND = [sys.executable, "-m", "springtide"]
# A shell starts background jobs deaf to interrupts, and this may run in one.
LISTENING = """
import signal, sys
from springtide.cli.main import main
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.argv[0] = "springtide"
main()
"""
# More than a pipe takes: whoever has written it knows that it is being read.
PIPE_BYTES = 1 << 18


def interrupted(process: subprocess.Popen[bytes]) -> int:
    """Interrupts the process until it ends, and returns its exit code.

    An interrupt that arrives just before a read is noticed only when that read returns, which here
    is never; the next interrupt then finds the process inside it.
    """
    for _ in range(20):
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(timeout=1)
    return process.wait(timeout=1)


def test_what_is_piped_in_is_read() -> None:
    piped = (EXAMPLE / "cluster.yaml").read_bytes()

    done = subprocess.run(
        [*COMMAND, "plan", "--groups", str(EXAMPLE / "groups.yaml"), "-o", "name"],
        input=piped,
        capture_output=True,
        check=False,
    )

    assert (done.returncode, done.stdout, done.stderr) == (
        0,
        b"nodegroup.springtide.io/l40s\n",
        b"",
    )


@pytest.mark.parametrize(
    ("example", "is_loaded"), [("warm-group", False), ("scheduler-profiles", True)]
)
def test_what_reads_scheduler_configurations_is_loaded_only_for_them(
    example: str,
    is_loaded: bool,  # noqa: FBT001 - a case
) -> None:
    program = (
        "import sys\n"
        "from springtide.cli.main import run\n"
        f"run(['plan', {str(ROOT / 'examples' / example)!r}, '-o', 'name'])\n"
        "print('springtide.wire.kubescheduler' in sys.modules)\n"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)

    assert done.stdout.splitlines()[-1] == str(is_loaded).encode()


def test_nothing_piped_in_is_an_input_error() -> None:
    done = subprocess.run([*COMMAND, "plan"], input=b"", capture_output=True, check=False)

    assert done.returncode == 2
    assert done.stdout == b""
    assert done.stderr.startswith(b"Error: standard input: ")


@pytest.mark.parametrize(
    "arguments",
    [["plan", str(EXAMPLE), "-o", "json"], ["--help"], ["plan", "--help"], ["completion", "zsh"]],
)
def test_a_reader_that_goes_away_ends_it_in_silence(arguments: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)

    done = subprocess.run(
        [*COMMAND, *arguments], stdout=writing, stderr=subprocess.PIPE, check=False
    )
    os.close(writing)

    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="There is no full device here.")
@pytest.mark.parametrize("arguments", [["version"], ["plan", str(EXAMPLE)]])
def test_a_disk_without_room_is_told_in_a_sentence(arguments: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*COMMAND, *arguments], stdout=full, stderr=subprocess.PIPE, check=False
        )

    assert done.returncode == 2
    assert done.stderr.startswith(b"Error: standard output cannot be written: No space left")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(("no_colour", "is_coloured"), [("", True), ("1", False)])
def test_a_terminal_gets_colour_and_lines_that_fit(no_colour: str, is_coloured: bool) -> None:  # noqa: FBT001
    master, slave = os.openpty()
    terminal = {"COLUMNS": "60", "TERM": "xterm", "NO_COLOR": no_colour}

    with subprocess.Popen(
        [*COMMAND, "plan", str(EXAMPLE)], stdout=slave, env={**os.environ, **terminal}
    ) as process:
        os.close(slave)
        shown = terminal_text(master)
    os.close(master)

    assert process.returncode == 0
    assert ("\x1b[1mGROUP" in shown) is is_coloured
    assert max(map(len, click.unstyle(shown).splitlines())) <= 60


def terminal_text(master: int) -> str:
    """Reads what a terminal shows until its last writer is gone."""
    parts = []
    with contextlib.suppress(OSError):
        while part := os.read(master, 4096):
            parts.append(part)
    return b"".join(parts).decode()


def test_an_interrupt_ends_with_130() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", LISTENING, "plan", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        process.stdin.write(b" " * PIPE_BYTES)
        process.stdin.flush()
        code = interrupted(process)
        assert process.stderr is not None
        said = process.stderr.read()

    assert code == 130
    assert b"Traceback" not in said
