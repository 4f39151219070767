"""Metrics as they are configured, samples as they come, and workloads as far as they check an answer."""

from decimal import Decimal
from enum import StrEnum

import msgspec


class Role(StrEnum):
    """What a metric is for.

    `EXPECTED` is how many replicas are wanted, of which 0 is never an answer. `INDEX` is the highest replica
    that still holds state: it counts only if every member has spoken. `PLAIN` is any other number.
    """

    EXPECTED = "expected"
    INDEX = "index"
    PLAIN = "plain"


class Aggregator(StrEnum):
    """What several samples of a workload come to."""

    MAX = "max"
    MIN = "min"
    SUM = "sum"


class Metric(msgspec.Struct, frozen=True, kw_only=True):
    """One metric that is served.

    `series` are the names that it may have where it is kept, of which only one may be there. The labels of
    `required` must each be given one value, by which a workload is found; `namespace_label` says which
    namespace a sample belongs to, empty for any, and `member_label` which member has sent it. Only
    if `checks_members`, an answer has to agree with the pods of the workload; with `counts_records`, what
    its members have written down stands for those that have not spoken.
    """

    name: str
    series: tuple[str, ...]
    role: Role = Role.PLAIN
    aggregator: Aggregator = Aggregator.MAX
    namespace_label: str = "k8s_namespace_name"
    member_label: str = "instance"
    required: tuple[str, ...] = ("hpa_target_name",)
    age_s_max: float = 60.0
    hold_s: float = 30.0
    refresh_s: float = 5.0
    checks_members: bool = False
    counts_records: bool = False

    @property
    def place_labels(self) -> tuple[str, ...]:
        """Return the labels by which a workload is found, in the order of a place."""
        return (self.namespace_label, *self.required) if self.namespace_label else self.required

    @property
    def is_whole(self) -> bool:
        """Return whether it counts replicas, of which there are no parts."""
        return self.role is not Role.PLAIN


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    """One value as it was written, when it was taken, and whose it is."""

    labels: dict[str, str]
    text: str
    unix_s: float


class Workload(msgspec.Struct, frozen=True, kw_only=True):
    """What the cluster says of a workload: `members` pods that have been ready once, how long an index
    has stood above its replicas and the one that may be on its way, and the highest number that is written
    down to hold state, 0 for none. None says that nobody writes it down where it could be read."""

    members: int
    replicas: int
    recorded: int | None = None
    beyond_s: float = 0.0


class Answered(msgspec.Struct, frozen=True, kw_only=True):
    """A value, and when the oldest sample of those that count was taken."""

    value: Decimal
    unix_s: float
