"""A job done: from the bytes of its files to its report, in whatever process."""

from collections.abc import Sequence

from springtide.apps.bench.curves import curve
from springtide.apps.bench.invariants import UNLIMITED, violation
from springtide.apps.bench.jobs import Done, Job, Order
from springtide.apps.bench.kept import cells, steps
from springtide.apps.bench.policies import PODS_A_GPU, POLICIES
from springtide.apps.bench.telling import Times, told
from springtide.apps.bench.timing import Timed, timed
from springtide.edge.machine import MachineClock
from springtide.edge.memory import forget_peak
from springtide.engine.trace import Chance, Run, Stream, Workload, recorded, seeded
from springtide.model.trace import TraceNode, TracePod
from springtide.wire.source import Source
from springtide.wire.trace import read_arrivals, read_nodes, read_pods, read_ranks


def perform(job: Job) -> Done:
    """Return what the job comes to; what cannot be read or replayed raises as everywhere."""
    forget_peak()
    clock = MachineClock()
    started_s = clock.monotonic_s()
    nodes, pods = read(job.nodes, job.pods)
    read_s = clock.monotonic_s()
    workload = made(job.order, nodes, pods)
    times = Times(load_s=read_s - started_s, prepare_s=clock.monotonic_s() - read_s)
    fastest = _fastest([_timed(job, workload) for _ in range(job.repeat)])
    run, wanted = fastest.run, job.wanted
    curves = curve(run)
    return Done(
        report=told(job, workload, fastest, curve=curves, times=times),
        curve=curves,
        steps=steps(run) if wanted.has_steps else None,
        cells=cells(workload, run) if wanted.has_cells else None,
        violation=_violation(job, workload, run) if wanted.is_checked else None,
    )


def read(nodes: Source, pods: Source) -> tuple[tuple[TraceNode, ...], tuple[TracePod, ...]]:
    """Return the nodes and pods of two files, or raise a DocumentFault."""
    return (
        read_nodes(nodes.data, source=nodes.name),
        read_pods(pods.data, source=pods.name),
    )


def made(order: Order, nodes: Sequence[TraceNode], pods: Sequence[TracePod]) -> Workload:
    """Return the workload of an order, or raise an UnusableTrace or a DocumentFault."""
    recording = order.recording
    if recording is None:
        return seeded(nodes, pods, seed=order.seed, tune=order.tune)
    arrivals = read_arrivals(recording.arrivals.data, source=recording.arrivals.name)
    return recorded(
        nodes,
        pods,
        arrivals=[(each.pod, each.is_clone) for each in arrivals],
        ranks=read_ranks(recording.ranks.data, source=recording.ranks.name),
    )


def _violation(job: Job, workload: Workload, run: Run) -> str | None:
    return violation(workload, run, pods_a_gpu=PODS_A_GPU.get(job.policy, UNLIMITED))


def _timed(job: Job, workload: Workload) -> Timed:
    return timed(POLICIES[job.policy], workload, Chance(job.order.seed, Stream.POLICY))


def _fastest(repetitions: Sequence[Timed]) -> Timed:
    first = repetitions[0].run
    for other in repetitions[1:]:
        assert other.run.devices == first.devices, "two runs of one job differ"
    return min(repetitions, key=lambda each: each.schedule_s)
