"""What one run is told as: the numbers of the report, from placements and times."""

import platform
from typing import Final

import msgspec
import numpy as np

from springtide.apps.bench.curves import REPORTED, Curve
from springtide.apps.bench.jobs import Job
from springtide.apps.bench.policies import LIVE
from springtide.apps.bench.report import Decisions, RunReport
from springtide.apps.bench.timing import Timed
from springtide.edge.machine import cores
from springtide.edge.memory import peak_mib
from springtide.engine.trace import Workload
from springtide.model.columns import Float64

TABLES: Final = "tables"
"""The engine that keeps what a policy thinks of each node for each class of pods."""
LIVE_PATH: Final = "live"
"""What schedules a live cluster."""
_US_A_S: Final = 1_000_000


class Times(msgspec.Struct, frozen=True, kw_only=True):
    """What came before the first decision."""

    load_s: float
    prepare_s: float


def told(job: Job, workload: Workload, timed: Timed, *, curve: Curve, times: Times) -> RunReport:
    """Return the report of a run."""
    run, capacity = timed.run, workload.capacity
    recording = job.order.recording
    used_milli, frag_milli = _last(run.used_milli), _last(run.frag_milli)
    return RunReport(
        trace=job.trace,
        policy=job.policy,
        engine=LIVE_PATH if job.policy in LIVE else TABLES,
        tune=job.order.tune if recording is None else None,
        seed=job.order.seed if recording is None else None,
        replay=recording.name if recording is not None else None,
        nodes=len(workload.nodes),
        gpus=capacity.gpus,
        pods=run.arrived,
        placed=run.arrived - run.failed,
        failed=run.failed,
        failed_by_class=dict(run.failed_by_class),
        alloc_pct={str(at): curve.alloc_at(at) for at in REPORTED},
        gpu_pct=_pct(used_milli, capacity.gpu_milli),
        cpu_pct=_pct(run.cpu_used_milli, capacity.cpu_milli),
        mem_pct=_pct(run.memory_used_mib, capacity.memory_mib),
        gpus_touched_pct=_pct(run.gpus_touched, capacity.gpus),
        frag_milli=frag_milli,
        frag_pct_of_capacity=_pct(frag_milli, capacity.gpu_milli),
        frag_pct_of_idle=_pct(frag_milli, capacity.gpu_milli - used_milli),
        frag_labels=dict(run.labels),
        load_s=times.load_s,
        prepare_s=times.prepare_s + timed.start_s,
        schedule_s=timed.schedule_s,
        cpu_s=timed.cpu_s,
        pods_per_s=_rate(run.arrived, timed.schedule_s),
        pods_per_cpu_s=_rate(run.arrived, timed.cpu_s),
        decision_us=_decisions(timed.decisions_s),
        peak_rss_mib=peak_mib(),
        cores=cores(),
        python=platform.python_version(),
        numpy=np.__version__,
    )


def _last(values: np.ndarray) -> float:
    return float(values[-1]) if len(values) else 0.0


def _pct(part: float, whole: float) -> float:
    return 100 * part / whole if whole else 0.0


def _rate(count: int, took_s: float) -> float:
    return count / took_s if took_s else 0.0


def _decisions(decisions_s: Float64) -> Decisions:
    if not len(decisions_s):
        return Decisions(p50=0.0, p99=0.0, max=0.0)
    p50, p99, longest = np.percentile(decisions_s * _US_A_S, [50, 99, 100]).tolist()
    return Decisions(p50=p50, p99=p99, max=longest)
