"""Jobs and requests for benchmarks on the invented trace of the examples, and answers with set numbers."""

from pathlib import Path
from typing import Final

import msgspec

from springtide.apps.bench.jobs import Done, Job, Order, Recording, Wanted
from springtide.apps.bench.performing import perform
from springtide.apps.bench.report import Decisions, RunReport
from springtide.apps.bench.run import Request, Trace
from springtide.wire.source import Source

EXAMPLE: Final = Path(__file__).resolve().parent.parent / "examples" / "own-trace"
OPENB: Final = Path(__file__).resolve().parent / "recorded" / "openb"
ALL: Final = Wanted(has_steps=True, has_cells=True, is_checked=True)


def source(path: Path) -> Source:
    """A file as it is read."""
    return Source(path.name, path.read_bytes())


def job(policy: str = "fgd", *, order: Order | None = None, repeat: int = 1) -> Job:
    """A run on the example, with everything that can come back."""
    return Job(
        trace="own",
        policy=policy,
        order=order or Order(seed=1, tune=1.3),
        nodes=source(EXAMPLE / "nodes.csv"),
        pods=source(EXAMPLE / "pods.csv"),
        repeat=repeat,
        wanted=ALL,
    )


def request(*policies: str, seeds: range = range(1, 3)) -> Request:
    """What asks for runs on the example."""
    return Request(
        nodes=source(EXAMPLE / "nodes.csv"),
        traces=(Trace(name="own", pods=source(EXAMPLE / "pods.csv")),),
        policies=policies,
        tune=1.3,
        seeds=seeds,
        wanted=ALL,
    )


def reported(
    policy: str, *, trace: str = "default", at_100: float | None = None, at_130: float | None = None
) -> RunReport:
    """A report of the example with other names and other allocations."""
    found = perform(job()).report
    alloc_pct = {**found.alloc_pct, "100": at_100, "130": at_130}
    return msgspec.structs.replace(
        found, policy=policy, trace=trace, alloc_pct=alloc_pct, gpu_pct=at_130 or found.gpu_pct
    )


def timeless(report: RunReport) -> RunReport:
    """The report as if every run took the same time on the same machine."""
    return msgspec.structs.replace(
        report,
        load_s=0.25,
        prepare_s=0.125,
        schedule_s=0.5,
        cpu_s=0.5,
        pods_per_s=2 * report.pods,
        pods_per_cpu_s=2 * report.pods,
        decision_us=Decisions(p50=10.0, p99=100.0, max=1000.0),
        peak_rss_mib=50.0,
        cores=2,
        python="3.11.0",
        numpy="2.2.0",
    )


def recording(arrivals: str, ranks: str) -> Recording:
    """An order that was recorded."""
    return Recording(
        name="own_t13",
        arrivals=Source("arrivals", arrivals.encode()),
        ranks=Source("ranks", ranks.encode()),
    )


def done(report: RunReport, *, violation: str | None = None) -> Done:
    """An answer with this report."""
    return msgspec.structs.replace(perform(job()), report=report, violation=violation)
