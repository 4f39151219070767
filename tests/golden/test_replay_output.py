"""What `springtide replay` prints for examples, byte for byte, in every format and two widths."""

from pathlib import Path
from typing import Final

import click
import pytest

from springtide.cli.main import run
from springtide.cli.replay_answer import Question, answered
from springtide.cli.replay_table import Style, Times, render
from tests.golden.expected import ROOT, assert_golden, without_timings

EXAMPLES: Final = ROOT / "examples"
GOLDEN: Final = Path(__file__).resolve().parent / "replay"
SUFFIXES: Final = {
    "table": "table.txt",
    "wide": "wide.txt",
    "json": "json",
    "yaml": "yaml",
    "csv": "csv",
    "name": "name",
}
POLICIES: Final = ("--policy", "binpack/binpack", "--against", "spread/spread")


@pytest.mark.parametrize("output", SUFFIXES)
def test_every_format_prints_its_recorded_answer(
    output: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = run(["replay", str(EXAMPLES / "spread-out"), *POLICIES, "-o", output])

    printed = capsys.readouterr()
    assert_golden(GOLDEN / f"spread-out.{SUFFIXES[output]}", without_timings(printed.out))
    assert printed.err == ""
    assert code == 1


@pytest.mark.parametrize("example", ["card-memory", "gang", "npu-modules", "warm-group"])
def test_other_examples_print_their_recorded_answer(
    example: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["replay", str(EXAMPLES / example), *POLICIES])

    printed = capsys.readouterr()
    assert_golden(GOLDEN / f"{example}.table.txt", without_timings(printed.out))


@pytest.mark.parametrize("width", [80, 160])
@pytest.mark.parametrize(
    ("example", "policy", "against"),
    [
        ("spread-out", "binpack/spread", "recorded"),
        ("warm-group", "fragmentation/fragmentation", "spread/topology-aware"),
    ],
)
def test_a_terminal_shows_the_recorded_answer(
    example: str, policy: str, against: str, width: int
) -> None:
    question = Question(paths=(str(EXAMPLES / example),), policy=policy, against=against)

    report, _ = answered(question)

    times = Times(reading_s=0.0, replaying_s=0.0)
    text = click.unstyle(render(report, times, Style(width=width)))
    assert_golden(GOLDEN / f"{example}.{width}.txt", f"{text}\n")
    assert max(map(len, text.splitlines())) <= width
