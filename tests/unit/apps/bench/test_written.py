"""Runs as CSV files."""

import csv
import io

import msgspec

from springtide.apps.bench.performing import perform
from springtide.apps.bench.written import placement_lines, step_lines
from springtide.wire.trace import read_placements
from tests.benches import done, job, reported


def test_every_arrival_has_a_line_of_its_run() -> None:
    answers = [perform(job("fgd")), perform(job("bestfit"))]

    rows = list(csv.DictReader(io.StringIO("".join(step_lines(answers)))))

    assert len(rows) == sum(each.report.pods for each in answers)
    last = rows[answers[0].report.pods - 1]
    assert (last["trace"], last["policy"], last["order"]) == ("own", "fgd", "1")
    assert int(last["seq"]) == answers[0].report.pods - 1
    assert int(last["used_milli"]) == round(130 * answers[0].report.gpu_pct)
    assert float(last["frag_milli"]) == round(answers[0].report.frag_milli, 3)


def test_names_with_commas_stay_one_cell() -> None:
    answer = msgspec.structs.replace(
        perform(job()), report=reported("fgd", trace='pods, "mine".csv')
    )

    rows = list(csv.DictReader(io.StringIO("".join(step_lines([answer])))))

    assert {row["trace"] for row in rows} == {'pods, "mine".csv'}


def test_a_run_without_steps_has_no_lines() -> None:
    answer = msgspec.structs.replace(done(reported("fgd")), steps=None)

    assert len(list(step_lines([answer]))) == 1


def test_placements_read_back_as_recorded_ones() -> None:
    cells = {"fgd": ("a:0-1", "-"), "gpu-packing": ("b", "a:3")}

    text = "".join(placement_lines(cells))

    assert text.splitlines()[0] == "seq,fgd,gpu_packing"
    assert len(read_placements(text.encode(), source="x")["gpu_packing"]) == 2
