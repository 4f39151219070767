"""The example service as a reader runs it: processes, signals, and the verdict that it prints."""

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
from msgspec.structs import replace

from examples.rooms.showing import Outcome, Plan, show
from examples.rooms.weather import FAULTS
from tests.etcds import MISSING, program

ROOT: Final = Path(__file__).resolve().parents[2]
SHORT: Final = Plan(seconds=20.0, members=4, rooms=8, users=4, pace=0.05)


def shown(plan: Plan) -> tuple[Outcome, list[str]]:
    """Run the service, and return how it went and what it said."""
    said: list[str] = []
    return asyncio.run(show(plan, said.append)), said


@pytest.mark.timeout(180)
def test_every_request_is_answered_while_members_come_and_go() -> None:
    """Covers R-43 in part, R-48 in part."""
    outcome, said = shown(SHORT)

    assert outcome.is_well, said
    assert outcome.checker.tally.failed == 0
    assert outcome.most > outcome.least
    assert any("No room was lost" in line for line in said)


@pytest.mark.timeout(180)
@pytest.mark.parametrize("place", ["memory", "etcd"])
def test_no_room_is_lost_or_doubled_by_kills_pauses_cuts_wrong_clocks_and_wipes(
    place: str,
) -> None:
    """Covers R-49 in part, F-16 in part, F-18 in part."""
    etcd = program() if place == "etcd" else ""
    if etcd is None:
        pytest.skip(MISSING)

    outcome, said = shown(replace(SHORT, faults=FAULTS, etcd=etcd))

    assert not outcome.checker.wrongs, said
    assert outcome.is_settled, said


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--faults", "flood"], "--faults: flood is none of kill, pause, partition, clock, wipe."),
        (["--members", "40"], "--members: 40 is not between 4 and 12."),
        (["--etcd", "/no/etcd"], "--etcd: /no/etcd cannot be started: No such file or directory."),
    ],
)
def test_what_cannot_be_run_is_told(arguments: list[str], words: str) -> None:
    command = [sys.executable, "-m", "examples.rooms", *arguments]

    ran = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)

    assert ran.returncode == 2
    assert words in ran.stderr
