"""A replay as CSV, one line a pod that differs and policy, and as names, for programs."""

import csv
import io
from collections.abc import Iterator, Sequence
from typing import Final

from springtide.apps.replay.report import DevicesOn, DifferenceReport, ReplayReport

COLUMNS: Final = ("order", "pod", "created", "change", "policy", "node", "devices", "reason")


def as_csv(report: ReplayReport, *, has_headers: bool) -> str:
    """Return where every pod that differs goes, under each policy and as recorded."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    if has_headers:
        writer.writerow(COLUMNS)
    for each in report.differences:
        writer.writerows(_rows(each))
    return buffer.getvalue().rstrip("\n")


def as_names(report: ReplayReport) -> str:
    """Return the pods that differ as `why` takes them, one a line."""
    return "\n".join(f"pod/{each.pod}" for each in report.differences)


def devices(given: Sequence[DevicesOn]) -> str:
    """Return the positions of devices, with their families where there are several."""
    if len(given) == 1:
        return _positions(given[0])
    return " ".join(f"{each.family}:{_positions(each)}" for each in given)


def _positions(given: DevicesOn) -> str:
    return ",".join(map(str, given.positions))


def _rows(each: DifferenceReport) -> Iterator[tuple[str | int, ...]]:
    own = (each.order, each.pod, each.created, each.change)
    for decision in each.decisions:
        place = (decision.node, devices(decision.devices))
        yield (*own, decision.policy, *place, decision.reason)
