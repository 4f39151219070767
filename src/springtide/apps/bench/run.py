"""The benchmark: makes a job of every trace, policy and order, has them done, and composes the report."""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from springtide.apps.bench import checks, parity
from springtide.apps.bench.compose import summary
from springtide.apps.bench.jobs import Done, Job, Order, Recording, Wanted
from springtide.apps.bench.performing import made, perform, read
from springtide.apps.bench.published import CARRIES, PRINTED_REPLAY
from springtide.apps.bench.report import BenchReport, CheckReport, RunReport, SpreadReport
from springtide.apps.bench.spreads import spreads
from springtide.apps.planner.onlooker import NOBODY, Onlooker
from springtide.base.errors import SpringtideError
from springtide.base.telling import Level
from springtide.edge.sweep import Sweep
from springtide.wire.source import Source
from springtide.wire.trace import read_placements

JOBS_MAX: Final = 100_000
BAR: Final = 20


class TooMany(SpringtideError):
    """More runs are asked for than one sweep may have."""


class Trace(msgspec.Struct, frozen=True, kw_only=True):
    """A list of pods, and placements of it that were recorded, if there are any."""

    name: str
    pods: Source
    placements: Source | None = None


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What to measure: every policy on every trace, in the orders of the seeds or as recorded.

    `done_by` says who does it, as people are told.
    """

    nodes: Source
    traces: tuple[Trace, ...]
    policies: tuple[str, ...]
    tune: float
    seeds: range
    recording: Recording | None = None
    repeat: int = 1
    wanted: Wanted = Wanted()
    done_by: str = "this process"


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """The report, and what every run came to, in its order."""

    report: BenchReport
    answers: tuple[Done, ...]


def run(request: Request, sweep: Sweep, *, onlooker: Onlooker = NOBODY) -> Outcome:
    """Return what was measured.

    Raises what reading a trace raises, UnusableTrace, TooMany and SweepFault.
    """
    onlooker.progress.begin("Reading the traces")
    jobs = _jobs(request)
    _tried(request)
    answers = _answers(jobs, sweep, onlooker)
    runs = tuple(each.report for each in answers)
    means = spreads(runs)
    checked = tuple(_checks(request, answers, means)) if request.wanted.is_checked else ()
    report = BenchReport(
        summary=summary(runs, means, checked),
        reference=CARRIES,
        done_by=request.done_by,
        runs=runs,
        spreads=means,
        checks=checked,
    )
    return Outcome(report=report, answers=answers)


def _jobs(request: Request) -> list[Job]:
    orders = _orders(request)
    asked = len(request.traces) * len(request.policies) * len(orders)
    if asked > JOBS_MAX:
        raise TooMany(f"These are {asked:,} runs, and {JOBS_MAX:,} is the most. Give fewer seeds.")
    return [
        Job(
            trace=trace.name,
            policy=policy,
            order=order,
            nodes=request.nodes,
            pods=trace.pods,
            repeat=request.repeat,
            wanted=request.wanted,
        )
        for trace in request.traces
        for policy in request.policies
        for order in orders
    ]


def _orders(request: Request) -> list[Order]:
    if request.recording is not None:
        return [Order(recording=request.recording)]
    return [Order(seed=seed, tune=request.tune) for seed in request.seeds]


def _tried(request: Request) -> None:
    """Read everything once, so that what is wrong with it is told before anybody is put to work."""
    first = _orders(request)[0]
    for trace in request.traces:
        made(first, *read(request.nodes, trace.pods))
        _recorded(trace)


def _answers(jobs: Sequence[Job], sweep: Sweep, onlooker: Onlooker) -> tuple[Done, ...]:
    onlooker.progress.begin(bar(0, len(jobs)))
    found: dict[int, Done] = {}
    for number, done in sweep.each(perform, jobs):
        found[number] = done
        onlooker.progress.begin(bar(len(found), len(jobs)))
        report = done.report
        onlooker.tell(
            Level.DECISION,
            "replayed",
            run=jobs[number].name,
            allocated_pct=round(report.gpu_pct, 2),
            failed=report.failed,
            pods_per_s=round(report.pods_per_s),
        )
    return tuple(found[number] for number in range(len(jobs)))


def bar(done: int, total: int) -> str:
    """Return how far the runs are, as a bar of plain characters that every terminal has."""
    drawn = ("#" * (BAR * done // total)).ljust(BAR, ".")
    return f"Replaying [{drawn}] {done:,} of {total:,} runs"


def _checks(
    request: Request, answers: Sequence[Done], means: Sequence[SpreadReport]
) -> Iterator[CheckReport]:
    runs = [each.report for each in answers]
    recording = request.recording
    if recording is not None:
        yield from _parity(request, answers)
        if recording.name == PRINTED_REPLAY:
            yield from parity.numbers(runs)
    else:
        yield from checks.means(means, terms=_terms(request, runs))
    yield from checks.invariants(answers)
    yield from checks.ours(means)


def _parity(request: Request, answers: Sequence[Done]) -> Iterator[CheckReport]:
    recorded = {}
    for trace in request.traces:
        if trace.placements is None:
            yield checks.skipped(
                f"placements on {trace.name}", "none are recorded beside the order"
            )
        else:
            source = trace.placements
            recorded[trace.name] = read_placements(source.data, source=source.name)
    yield from parity.placements(answers, recorded)


def _recorded(trace: Trace) -> parity.Recorded | None:
    source = trace.placements
    return None if source is None else read_placements(source.data, source=source.name)


def _terms(request: Request, runs: Sequence[RunReport]) -> checks.Terms:
    return checks.Terms(seeds=request.seeds, tune=request.tune, gpus=runs[0].gpus)
