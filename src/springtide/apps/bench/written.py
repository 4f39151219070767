"""Runs as CSV: what every arrival changed, and where every pod went.

Placements have the form of the recorded ones (`wire.trace`), so that the two can be compared as files.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping

from springtide.apps.bench.jobs import Done

STEPS = ("trace", "policy", "order", "seq", "arrived_milli", "used_milli", "frag_milli")


def step_lines(answers: Iterable[Done]) -> Iterator[str]:
    """Yield a header, and a line an arrival of every run."""
    yield _line(STEPS)
    for each in answers:
        if each.steps is None:
            continue
        report, steps = each.report, each.steps
        order = str(report.seed) if report.replay is None else report.replay
        before = _line([report.trace, report.policy, order]).rstrip("\n")
        columns = (steps.arrived_milli, steps.used_milli, steps.frag_milli)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        for number, (arrived, used, frag) in enumerate(rows):
            yield f"{before},{number},{arrived},{used},{frag:.3f}\n"


def placement_lines(placements: Mapping[str, Iterable[str]]) -> Iterator[str]:
    """Yield a header, and a line an arrival with a column a policy."""
    yield _line(["seq", *map(column, placements)])
    for number, row in enumerate(zip(*placements.values(), strict=True)):
        yield _line([str(number), *row])


def column(policy: str) -> str:
    """Return what a policy's column is called."""
    return policy.replace("-", "_")


def _line(values: Iterable[str]) -> str:
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerow(values)
    return file.getvalue()
