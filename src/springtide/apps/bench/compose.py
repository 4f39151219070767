"""The answer in a sentence or two: who fills the cluster most, and whether the checks hold."""

from collections.abc import Iterator, Sequence

from springtide.apps.bench.report import CheckReport, RunReport, SpreadReport


def summary(
    runs: Sequence[RunReport], spreads: Sequence[SpreadReport], checks: Sequence[CheckReport]
) -> str:
    """Return what the report comes to."""
    sentences = [_single(runs[0])] if len(runs) == 1 else list(_best(spreads))
    if checks:
        held = sum(check.state == "passed" for check in checks)
        failed = sum(check.state == "failed" for check in checks)
        sentences.append(f"{held} of {held + failed} checks passed.")
    return " ".join(sentences)


def _single(run: RunReport) -> str:
    return (
        f"{run.policy} places {run.placed:,} of {run.pods:,} pods of {run.trace} and allocates "
        f"{run.gpu_pct:.2f}% of its GPUs."
    )


def _best(spreads: Sequence[SpreadReport]) -> Iterator[str]:
    by_trace: dict[str, list[SpreadReport]] = {}
    for each in spreads:
        by_trace.setdefault(each.trace, []).append(each)
    for trace, found in by_trace.items():
        best, *rest = sorted(found, key=lambda each: -each.gpu_pct.mean)
        told = f"{best.policy} allocates {best.gpu_pct.mean:.2f}% of the GPUs of {trace}"
        if rest:
            lead = best.gpu_pct.mean - rest[0].gpu_pct.mean
            told += f", {lead:.2f} points more than {rest[0].policy}, the next"
        yield f"{told}."
