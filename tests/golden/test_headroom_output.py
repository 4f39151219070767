"""What `springtide headroom` prints for examples, byte for byte, in every format and two widths."""

from pathlib import Path
from typing import Final

import click
import pytest

from springtide.cli import headroom_chart
from springtide.cli.headroom_answer import Question, answered
from springtide.cli.headroom_table import Style, Times, render
from springtide.cli.main import run
from tests.golden.expected import ROOT, assert_golden, without_timings

EXAMPLES: Final = ROOT / "examples"
GOLDEN: Final = Path(__file__).resolve().parent / "headroom"
SUFFIXES: Final = {
    "table": "table.txt",
    "wide": "wide.txt",
    "json": "json",
    "yaml": "yaml",
    "csv": "csv",
    "name": "name",
}


@pytest.mark.parametrize("output", SUFFIXES)
def test_every_format_prints_its_recorded_answer(
    output: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = run(["headroom", str(EXAMPLES / "warm-group"), "-o", output])

    printed = capsys.readouterr()
    assert_golden(GOLDEN / f"warm-group.{SUFFIXES[output]}", without_timings(printed.out))
    assert printed.err == ""
    assert code == 0


@pytest.mark.parametrize("example", ["card-memory", "cold-zero", "gang", "scheduler-profiles"])
def test_other_examples_print_their_recorded_answer(
    example: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["headroom", str(EXAMPLES / example)])

    printed = capsys.readouterr()
    assert_golden(GOLDEN / f"{example}.table.txt", without_timings(printed.out))


@pytest.mark.parametrize("width", [80, 160])
def test_a_terminal_shows_the_recorded_answer_with_its_chart(width: int) -> None:
    question = Question(
        paths=(str(EXAMPLES / "warm-group"),),
        asks_max=10,
        node_policy="binpack",
        device_policy="spread",
    )

    report, _ = answered(question)

    chart = headroom_chart.drawn(report, width=width)
    times = Times(reading_s=0.0, answering_s=0.0)
    text = click.unstyle(render(report, times, Style(width=width), chart=chart))
    assert_golden(GOLDEN / f"warm-group.{width}.txt", f"{text}\n")
    assert max(map(len, text.splitlines())) <= width


def test_the_drawing_is_the_recorded_one(tmp_path: Path) -> None:
    path = tmp_path / "chart.svg"

    run(["headroom", str(EXAMPLES / "warm-group"), "-o", "name", "--svg", str(path)])

    assert_golden(GOLDEN / "warm-group.svg", path.read_text(encoding="utf-8"))
