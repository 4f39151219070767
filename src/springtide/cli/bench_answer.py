"""What `springtide bench` does once its options are read: read, replay, print and write."""

from collections.abc import Iterable, Iterator

import msgspec

from springtide.apps.bench import bands, written
from springtide.apps.bench.jobs import Wanted
from springtide.apps.bench.run import Outcome, Request, Trace, run
from springtide.cli import bench_plot, bench_table, bench_trace, formats
from springtide.cli.endings import UNREACHABLE, Ended
from springtide.cli.terminal import standard_output
from springtide.cli.watching import watched
from springtide.edge import sweep
from springtide.edge.files import check_writable, write, write_parts
from springtide.edge.machine import MachineClock, cores

FAILED = 1


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """What to read, and what to measure on it; `workers` is one a core unless given."""

    policies: tuple[str, ...]
    traces: tuple[str, ...]
    pods: tuple[str, ...] = ()
    nodes: str | None = None
    tune: float
    seeds: range
    replay: str | None = None
    repeat: int = 1
    is_checked: bool = False
    workers: int | None = None
    dask: str | None = None


class View(msgspec.Struct, frozen=True, kw_only=True):
    """How to print the answer, and where else to write it."""

    is_json: bool = False
    json_file: str | None = None
    curve: str | None = None
    placements: str | None = None
    plots: tuple[str, ...] = ()
    verbosity: int = 0

    @property
    def files(self) -> tuple[str, ...]:
        """Return all files that are to be written."""
        named = (self.json_file, self.curve, self.placements)
        return (*(path for path in named if path is not None), *self.plots)


def answer(question: Question, view: View) -> int:
    """Print the answer, write what is asked for, and return the exit code."""
    # What would fail at the end is told before the work is done.
    for path in view.files:
        check_writable(path)
    if view.plots:
        bench_plot.needed()
    clock = MachineClock()
    started_s = clock.monotonic_s()
    with watched(view.verbosity) as onlooker:
        request, sweeping = _request(question, view)
        try:
            outcome = run(request, sweeping, onlooker=onlooker)
        except (sweep.Unreachable, sweep.Died) as fault:
            raise Ended(str(fault), UNREACHABLE) from fault
        onlooker.progress.begin("Writing")
        _write(outcome, view)
    _print(outcome, view, took_s=clock.monotonic_s() - started_s)
    return FAILED if outcome.report.fails else 0


def _request(question: Question, view: View) -> tuple[Request, sweep.Sweep]:
    traces = bench_trace.traces(question.traces, question.pods)
    recording = None
    if question.replay is not None:
        recording = bench_trace.recording(question.replay)
        if question.is_checked:
            traces = [_beside(each, question.replay) for each in traces]
    many = len(traces) * len(question.policies) * (1 if recording else len(question.seeds))
    sweeping, done_by = _sweep(question, many)
    wanted = Wanted(
        has_steps=view.curve is not None,
        has_cells=view.placements is not None or recording is not None,
        is_checked=question.is_checked,
    )
    request = Request(
        nodes=bench_trace.nodes(question.nodes),
        traces=tuple(traces),
        policies=question.policies,
        tune=question.tune,
        seeds=question.seeds,
        recording=recording,
        repeat=question.repeat,
        wanted=wanted,
        done_by=done_by,
    )
    return request, sweeping


def _beside(trace: Trace, prefix: str) -> Trace:
    found = bench_trace.placements(prefix, trace.name)
    return msgspec.structs.replace(trace, placements=found)


def _sweep(question: Question, jobs: int) -> tuple[sweep.Sweep, str]:
    if question.dask is not None:
        return sweep.Dask(question.dask), f"the Dask cluster at {question.dask}"
    workers = min(question.workers or cores(), jobs)
    if workers == 1:
        return sweep.Here(), "one process"
    return sweep.Processes(workers), f"{workers} processes"


def _print(outcome: Outcome, view: View, *, took_s: float) -> None:
    terminal = standard_output()
    if view.is_json:
        terminal.write(formats.as_json(outcome.report))
    else:
        style = bench_table.Style(width=terminal.width)
        terminal.write(bench_table.render(outcome.report, took_s, style))


def _write(outcome: Outcome, view: View) -> None:
    if view.json_file is not None:
        write(view.json_file, f"{formats.as_json(outcome.report)}\n".encode())
    if view.curve is not None:
        write_parts(view.curve, _encoded(written.step_lines(outcome.answers)))
    if view.placements is not None:
        cells = {each.report.policy: each.cells or () for each in outcome.answers}
        write_parts(view.placements, _encoded(written.placement_lines(cells)))
    if view.plots:
        found = bands.bands(outcome.answers)
        for path in view.plots:
            form = path.lower().rpartition(".")[2]
            write(path, bench_plot.drawn(found, form=form))


def _encoded(lines: Iterable[str]) -> Iterator[bytes]:
    return (line.encode() for line in lines)
