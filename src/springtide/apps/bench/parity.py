"""Whether a replay does what was recorded: every node and GPU index, and every printed number.

Recorded placements are those of the published simulator; to meet them all but for one per cent would be
another order of summation, and is told as a difference too.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from springtide.apps.bench.checks import verdict
from springtide.apps.bench.jobs import Done
from springtide.apps.bench.kept import FAILED, cell
from springtide.apps.bench.published import PRINTED, PRINTED_AT, Printed
from springtide.apps.bench.report import CheckReport, RunReport
from springtide.apps.bench.written import column
from springtide.wire.trace import TracePlacement

Recorded = Mapping[str, Sequence[TracePlacement | None]]
"""By the names of columns where every arrival went."""
HALF_A_DIGIT = 0.005
ROUNDING = 1e-9


def placements(answers: Iterable[Done], recorded: Mapping[str, Recorded]) -> Iterator[CheckReport]:
    """Yield for each replay whether it met the recorded placements of its trace."""
    for each in answers:
        policy, trace = each.report.policy, each.report.trace
        there = recorded.get(trace, {}).get(column(policy))
        name = f"placements of {policy} on {trace}"
        if there is None or each.cells is None:
            continue
        yield _equal(name, each.cells, there)


def _equal(
    name: str, cells: Sequence[str], recorded: Sequence[TracePlacement | None]
) -> CheckReport:
    if len(cells) != len(recorded):
        told = f"{len(cells):,} pods came, {len(recorded):,} placements are recorded"
        return verdict(name, told, holds=False)
    expected = [FAILED if each is None else cell(each.node, each.gpus) for each in recorded]
    unequal = [number for number, cell in enumerate(cells) if cell != expected[number]]
    if not unequal:
        told = f"{len(cells):,} of {len(cells):,} nodes and GPU indices are equal"
        return verdict(name, told, holds=True)
    first = unequal[0]
    told = (
        f"{len(unequal):,} of {len(cells):,} differ, first arrival {first:,}: "
        f"{cells[first]} for {expected[first]}"
    )
    return verdict(name, told, holds=False)


def numbers(runs: Iterable[RunReport]) -> Iterator[CheckReport]:
    """Yield for each replay whether its numbers are those that are printed, to two decimals."""
    for run in runs:
        printed = PRINTED.get((run.trace, run.policy))
        if printed is not None:
            unequal = list(_unequal(run, printed))
            right = f"allocation at {_listed(PRINTED_AT)}%, fragment and failed pods are as printed"
            yield verdict(
                f"numbers of {run.policy} on {run.trace}",
                "; ".join(unequal) or right,
                holds=not unequal,
            )


def _unequal(run: RunReport, printed: Printed) -> Iterator[str]:
    for at, expected in zip(PRINTED_AT, printed.alloc_pct, strict=True):
        found = run.alloc_pct[str(at)]
        if found is None or not _is_as_printed(found, expected):
            yield f"{found} at {at}% for {expected:.2f}"
    if not _is_as_printed(run.frag_pct_of_capacity, printed.frag_pct_of_capacity):
        yield f"fragment {run.frag_pct_of_capacity:.4f}% for {printed.frag_pct_of_capacity:.2f}%"
    if run.failed != printed.failed:
        yield f"{run.failed:,} failed for {printed.failed:,}"


def _is_as_printed(found: float, printed: float) -> bool:
    return abs(found - printed) <= HALF_A_DIGIT + ROUNDING


def _listed(numbers: Sequence[int]) -> str:
    return "/".join(map(str, numbers))
