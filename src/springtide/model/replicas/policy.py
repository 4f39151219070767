"""A policy: one metric of a workload, how it is asked for, and when its value may count."""

from enum import StrEnum

import msgspec

from springtide.model.replicas.matcher import Matcher


class MetricKind(StrEnum):
    """Whether a metric only ever grows."""

    GAUGE = "gauge"
    COUNTER = "counter"


class Operator(StrEnum):
    """What joins the series of all members into one, as PromQL calls it."""

    NONE = "none"
    SUM = "sum"
    AVG = "avg"
    COUNT = "count"
    MIN = "min"
    MAX = "max"
    COUNT_VALUES = "count_values"
    TOPK = "topk"
    BOTTOMK = "bottomk"


class Aggregation(msgspec.Struct, frozen=True, kw_only=True):
    """An operator with what it needs: labels to keep or drop, a number, or a label's name."""

    operator: Operator = Operator.NONE
    by: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    k: int = 0
    value_label: str = ""


class RangeFunction(StrEnum):
    """What looks back over a range, as PromQL calls it."""

    RATE = "rate"
    IRATE = "irate"
    INCREASE = "increase"
    AVG = "avg_over_time"
    MIN = "min_over_time"
    MAX = "max_over_time"
    SUM = "sum_over_time"
    COUNT = "count_over_time"
    LAST = "last_over_time"


class Wrapping(msgspec.Struct, frozen=True, gc=False):
    """A function over the last so many seconds."""

    function: RangeFunction
    range_s: int


class Multi(StrEnum):
    """What several series for one value mean."""

    ERROR = "error"
    MAX = "max"
    SUM = "sum"


class Reduction(StrEnum):
    """What becomes of a series with several times."""

    LAST = "last"
    FIRST = "first"
    SUM = "sum"
    AVG = "avg"
    MIN = "min"
    MAX = "max"


class Semantics(StrEnum):
    """What one value of the query stands for."""

    UNSAID = ""
    TOTAL = "total"


class Validity(msgspec.Struct, frozen=True, kw_only=True):
    """When a value may count; coverage is in thousandths of the members that should report."""

    data_age_max_ms: int = 60_000
    clock_skew_max_ms: int = 30_000
    coverage_up_permille: int = 500
    coverage_down_permille: int = 1000
    value_min: int | None = None
    value_max: int | None = None
    is_empty_zero: bool = False
    is_zero_unknown: bool = False
    do_warnings_block_up: bool = False
    do_warnings_block_down: bool = True


class Fallback(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """So many replicas stand for a metric that failed so often in a row; zero replicas are none."""

    replicas: int = 0
    failures: int = 3


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """One metric, its thresholds, and how far it alone may ask; zero is unused and no limit."""

    name: str
    unit: str = ""
    kind: MetricKind = MetricKind.GAUGE
    aggregation: Aggregation = Aggregation()
    functions: tuple[Wrapping, ...] = ()
    selectors: tuple[Matcher, ...] = ()
    without_selectors: tuple[str, ...] = ()
    query: str = ""
    coverage_query: str = ""
    age_query: str = ""
    has_heartbeat: bool = True
    up_per_replica: int = 0
    down_per_replica: int = 0
    step_up_max: int = 0
    step_down_max: int = 0
    window_up_ms: int = 0
    window_down_ms: int = 0
    is_required: bool = True
    semantics: Semantics = Semantics.UNSAID
    multi: Multi = Multi.ERROR
    reduction: Reduction = Reduction.LAST
    validity: Validity = Validity()
    fallback: Fallback = Fallback()

    @property
    def is_counted(self) -> bool:
        """Return whether it can be told how many members report; one's own query must say how."""
        return not self.query or bool(self.coverage_query)

    @property
    def is_aged(self) -> bool:
        """Return whether it can be told how old the data is; one's own query must say how."""
        return not self.query or bool(self.age_query)

    @property
    def is_checked(self) -> bool:
        """Return whether both can be told."""
        return self.is_counted and self.is_aged
