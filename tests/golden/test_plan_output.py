"""What `springtide plan` prints for every example, byte for byte, also on terminals of two widths."""

from io import BytesIO
from pathlib import Path

import click
import pytest

from springtide.apps.planner import Request
from springtide.apps.planner import run as plan
from springtide.cli import plan_table
from springtide.cli.main import run
from springtide.edge.files import read
from springtide.edge.machine import SeededRng
from springtide.wire.documents import decode
from tests.golden.expected import ROOT, assert_golden, without_timings
from tests.world import FixedClock

EXAMPLES = ROOT / "examples"
GOLDEN = Path(__file__).resolve().parent / "plan"
TIMES = plan_table.Times(reading_s=0, planning_s=0)
# Where the answer is no; every other example ends with 0.
UNSATISFIED = {
    "warm-group",
    "aks-template-too-large",
    "aks-template-unregistered",
    "device-claims",
    "gang",
    "namespace-quota",
}
SUFFIXES = {
    "table": "table.txt",
    "wide": "wide.txt",
    "json": "json",
    "yaml": "yaml",
    "name": "name",
}

FOLDERS = {
    "-".join(path.parent.relative_to(EXAMPLES).parts): path.parent
    for path in sorted(EXAMPLES.rglob("groups.yaml"))
}


@pytest.mark.parametrize("output", ["table", "json"])
@pytest.mark.parametrize("example", FOLDERS)
def test_every_example_prints_its_recorded_answer(
    example: str, output: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = run(["plan", str(FOLDERS[example]), "-o", output])

    printed = capsys.readouterr()
    assert_golden(GOLDEN / f"{example}.{SUFFIXES[output]}", without_timings(printed.out))
    assert printed.err == ""
    assert code == (1 if example in UNSATISFIED else 0)


@pytest.mark.parametrize("output", ["wide", "yaml", "name"])
def test_the_other_formats_print_their_recorded_answer(
    output: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["plan", str(FOLDERS["warm-group"]), "-o", output])

    printed = capsys.readouterr()
    assert_golden(GOLDEN / f"warm-group.{SUFFIXES[output]}", without_timings(printed.out))


@pytest.mark.parametrize("width", [80, 160])
@pytest.mark.parametrize("example", FOLDERS)
def test_every_example_is_planned_for_in_its_recorded_words(example: str, width: int) -> None:
    found = decode(read((str(FOLDERS[example]),), BytesIO()))
    report = plan(found, Request(), clock=FixedClock(), rng=SeededRng(0))

    printed = click.unstyle(plan_table.render(report, TIMES, plan_table.Style(width=width)))
    assert_golden(GOLDEN / f"{example}.{width}.txt", f"{printed}\n")
