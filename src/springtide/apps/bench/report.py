"""The report of a benchmark: a documented, versioned type that every output is rendered from.

`BenchReport` is public: its JSON form is `apiVersion: springtide.io/v1alpha1, kind: Bench`, described
in `docs/bench.md` and by the generated schema. The fields of a run are spelled as whoever compares
simulators on this trace spells them.
"""

from typing import Literal

import msgspec

State = Literal["passed", "failed", "skipped"]


class Decisions(msgspec.Struct, frozen=True, kw_only=True):
    """How long single decisions took, in microseconds."""

    p50: float
    p99: float
    max: float


class RunReport(msgspec.Struct, frozen=True, kw_only=True):
    """One policy on one trace in one order of arrival.

    `seed` or `replay` says where the order comes from. `alloc_pct` is the GPU allocation by how much
    was asked for so far, both in % of the capacity; without a value where no arrival came near. What
    has no such key is the state at the end. `frag_labels` say what idle GPUs are, in milli. `schedule_s`
    is decisions and their bookkeeping alone, the best of the repetitions, and `cpu_s` the same in
    time of the processor, which other work on the machine does not lengthen; no compiler warms up. `peak_rss_mib` is that of the process meanwhile.
    """

    trace: str
    policy: str
    engine: str
    tune: float | None
    seed: int | None
    replay: str | None
    nodes: int
    gpus: int
    pods: int
    placed: int
    failed: int
    failed_by_class: dict[str, int]
    alloc_pct: dict[str, float | None]
    gpu_pct: float
    cpu_pct: float
    mem_pct: float
    gpus_touched_pct: float
    frag_milli: float
    frag_pct_of_capacity: float
    frag_pct_of_idle: float
    frag_labels: dict[str, float]
    load_s: float
    prepare_s: float
    schedule_s: float
    cpu_s: float
    warmup_s: float = 0.0
    pods_per_s: float
    pods_per_cpu_s: float
    decision_us: Decisions
    peak_rss_mib: float
    cores: int
    python: str
    numpy: str
    numba: str | None = None


class Spread(msgspec.Struct, frozen=True, kw_only=True):
    """A mean, and the standard deviation of what it was taken of if that was more than one."""

    mean: float
    sd: float | None


class SpreadReport(msgspec.Struct, frozen=True, kw_only=True):
    """One policy on one trace over all seeds."""

    trace: str
    policy: str
    runs: int
    pods: Spread
    alloc_pct: dict[str, Spread | None]
    gpu_pct: Spread
    cpu_pct: Spread
    mem_pct: Spread
    gpus_touched_pct: Spread
    frag_pct_of_capacity: Spread
    frag_pct_of_idle: Spread
    failed: Spread
    schedule_s: Spread
    pods_per_s: Spread
    pods_per_cpu_s: Spread
    decision_us_p50: Spread
    decision_us_p99: Spread
    peak_rss_mib: Spread
    times_as_shipped: float | None
    times_report_off: float | None


class CheckReport(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that has to hold; `text` has the numbers, or why it was skipped."""

    name: str
    state: State
    text: str


class BenchReport(msgspec.Struct, frozen=True, kw_only=True):
    """The whole answer. `reference` says what the ratios of the spreads leave out of account."""

    api_version: Literal["springtide.io/v1alpha1"] = msgspec.field(
        default="springtide.io/v1alpha1", name="apiVersion"
    )
    kind: Literal["Bench"] = "Bench"
    summary: str
    reference: str
    done_by: str
    runs: tuple[RunReport, ...]
    spreads: tuple[SpreadReport, ...]
    checks: tuple[CheckReport, ...] = ()

    @property
    def fails(self) -> bool:
        """Return whether something does not hold."""
        return any(check.state == "failed" for check in self.checks)
