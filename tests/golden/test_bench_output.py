"""What `springtide bench openb` prints of an invented trace, byte for byte but for times and machine."""

from pathlib import Path
from typing import Final

import click
import msgspec
import pytest

from springtide.apps.bench.report import BenchReport
from springtide.apps.bench.run import run
from springtide.apps.bench.spreads import spreads
from springtide.cli import bench_table, formats
from springtide.edge.sweep import Here
from tests.benches import request, timeless
from tests.golden.expected import assert_golden

GOLDEN: Final = Path(__file__).resolve().parent / "bench"


def report(*policies: str, seeds: range = range(1, 4)) -> BenchReport:
    """The report of runs that all took the same time."""
    found = run(request(*policies, seeds=seeds), Here()).report
    runs = tuple(map(timeless, found.runs))
    return msgspec.structs.replace(found, runs=runs, spreads=spreads(runs))


@pytest.mark.parametrize("width", [80, 160])
def test_a_terminal_shows_the_recorded_table(width: int) -> None:
    text = bench_table.render(
        report("fgd", "hami-binpack", "random"), 1.5, bench_table.Style(width=width)
    )

    shown = click.unstyle(text)
    assert_golden(GOLDEN / f"own-trace.{width}.txt", f"{shown}\n")
    assert max(map(len, shown.splitlines())) <= width


def test_one_run_is_told_without_a_spread() -> None:
    text = bench_table.render(report("fgd", seeds=range(1, 2)), 1.5, bench_table.Style(width=None))

    assert_golden(GOLDEN / "own-trace.one.txt", f"{click.unstyle(text)}\n")


def test_programs_read_the_recorded_document() -> None:
    text = formats.as_json(report("fgd", "random", seeds=range(1, 3)))

    assert_golden(GOLDEN / "own-trace.json", f"{text}\n")


def test_a_busy_machine_is_told_as_the_reason_for_low_rates() -> None:
    found = report("fgd")
    runs = tuple(msgspec.structs.replace(each, cpu_s=each.schedule_s / 3) for each in found.runs)

    text = bench_table.render(
        msgspec.structs.replace(found, runs=runs), 1.5, bench_table.Style(width=None)
    )

    assert "decisions took 3.0 times as long by the clock" in text
