"""What `springtide plan` prints for every example, byte for byte."""

from pathlib import Path

import pytest

from springtide.cli.main import run
from tests.golden.expected import ROOT, assert_golden, without_timings

EXAMPLES = ROOT / "examples"
GOLDEN = Path(__file__).resolve().parent / "plan"
# Where the answer is no; every other example ends with 0.
UNSATISFIED = {
    "warm-group",
    "aks-template-too-large",
    "aks-template-unregistered",
    "device-claims",
    "gang",
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
