"""Means and standard deviations over seeds, a row a trace and policy, in the order of the runs."""

import math
from collections.abc import Callable, Sequence

from springtide.apps.bench.published import DEFAULT, GPUS, REFERENCES
from springtide.apps.bench.report import RunReport, Spread, SpreadReport


def spreads(runs: Sequence[RunReport]) -> tuple[SpreadReport, ...]:
    """Return what the runs come to."""
    together: dict[tuple[str, str], list[RunReport]] = {}
    for run in runs:
        together.setdefault((run.trace, run.policy), []).append(run)
    return tuple(map(_spread, together.values()))


def spread(values: Sequence[float]) -> Spread:
    """Return the mean and the standard deviation of a sample."""
    mean = math.fsum(values) / len(values)
    if len(values) == 1:
        return Spread(mean=mean, sd=None)
    squares = math.fsum((value - mean) ** 2 for value in values)
    return Spread(mean=mean, sd=math.sqrt(squares / (len(values) - 1)))


def _spread(runs: Sequence[RunReport]) -> SpreadReport:
    def over(value: Callable[[RunReport], float]) -> Spread:
        return spread([value(run) for run in runs])

    first = runs[0]
    pods_per_s = over(lambda run: run.pods_per_s)
    reference = REFERENCES.get(first.policy) if is_published(first) else None
    return SpreadReport(
        trace=first.trace,
        policy=first.policy,
        runs=len(runs),
        pods=over(lambda run: run.pods),
        alloc_pct={at: _where_all(at, runs) for at in first.alloc_pct},
        gpu_pct=over(lambda run: run.gpu_pct),
        cpu_pct=over(lambda run: run.cpu_pct),
        mem_pct=over(lambda run: run.mem_pct),
        gpus_touched_pct=over(lambda run: run.gpus_touched_pct),
        frag_pct_of_capacity=over(lambda run: run.frag_pct_of_capacity),
        frag_pct_of_idle=over(lambda run: run.frag_pct_of_idle),
        failed=over(lambda run: run.failed),
        schedule_s=over(lambda run: run.schedule_s),
        pods_per_s=pods_per_s,
        pods_per_cpu_s=over(lambda run: run.pods_per_cpu_s),
        decision_us_p50=over(lambda run: run.decision_us.p50),
        decision_us_p99=over(lambda run: run.decision_us.p99),
        peak_rss_mib=over(lambda run: run.peak_rss_mib),
        times_as_shipped=pods_per_s.mean / reference.as_shipped if reference else None,
        times_report_off=pods_per_s.mean / reference.report_off if reference else None,
    )


def is_published(run: RunReport) -> bool:
    """Return whether the run is on the trace and the cluster on which the reference was timed."""
    return run.trace == DEFAULT and run.gpus == GPUS


def _where_all(arrival_pct: str, runs: Sequence[RunReport]) -> Spread | None:
    found = [value for run in runs if (value := run.alloc_pct[arrival_pct]) is not None]
    return spread(found) if len(found) == len(runs) else None
