"""What a filter rule is.

A rule looks at one ask once (`prepare`, kube-scheduler's PreFilter) and answers with one of four
records: it has nothing to say (`Skipped`), it refuses the pod everywhere (`Rejected`), it cannot
work (`Broken`), or it is `Ready` with a check, perhaps for named nodes only. The check is the
rule's memory of the ask; it judges any rows of the ledger it was prepared on, any number of times,
also rows that were added since.
"""

from collections.abc import Hashable
from enum import StrEnum
from typing import Protocol

import msgspec
import numpy as np
import numpy.typing as npt

from springtide.engine.framework.ask import PodAsk
from springtide.model.columns import Bool, Int64
from springtide.model.ledger import Ledger
from springtide.model.refusal import Refusal

Rows = npt.NDArray[np.intp]
Bits = npt.NDArray[np.uint64]


class Selection(msgspec.Struct, frozen=True):
    """The rows to judge, and the quickest index of a column that gives their cells."""

    rows: Rows
    cells: Rows | slice

    def of(self, columns: Int64) -> Int64:
        """Return the cells of several columns [columns, rows] at once."""
        if isinstance(self.cells, slice):
            return columns[:, self.cells]
        # Several times faster than an index of a slice and an array.
        found: Int64 = columns.take(self.cells, axis=1)
        return found


def selection(rows: Rows) -> Selection:
    """Return the selection of these rows; a run of adjacent rows is read without copying."""
    if not len(rows):
        return Selection(rows, rows)
    first, last = int(rows[0]), int(rows[-1])
    is_run = last - first == len(rows) - 1 and bool((rows[1:] > rows[:-1]).all())
    return Selection(rows, slice(first, last + 1) if is_run else rows)


class Reads(StrEnum):
    """What a rule's verdict on a row depends on, besides the ask."""

    NODE = "node"
    """The node's own record: its name, labels, taints. Placing a pod changes nothing."""
    USAGE = "usage"
    """Also what the pods on that node hold. Placing a pod changes its own row only."""
    CLUSTER = "cluster"
    """Also pods and objects elsewhere: the ask must be prepared again after a change.

    Such a rule rejects an ask, or cannot judge it, for what the ask itself says only.
    """


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """One rule's verdict over n rows; `unresolvable` and `detail` only count where `refused`.

    `detail` is a set of bits that the check itself turns into reasons, None if the rule has one.
    """

    refused: Bool
    unresolvable: Bool
    detail: Bits | None = None


class Check(Protocol):
    """A rule's memory of one ask."""

    def evaluate(self, ledger: Ledger, selected: Selection) -> Outcome | None:
        """Return the verdict over the selected rows, None if all of them pass."""
        ...

    def reasons(self, detail: int) -> tuple[str, ...]:
        """Return the texts that a row's bits stand for."""
        ...


class Skipped(msgspec.Struct, frozen=True):
    """The rule has nothing to say about this ask, `is_lasting` whatever is placed anywhere."""

    is_lasting: bool = True


class Rejected(msgspec.Struct, frozen=True):
    """No node can take the pod, whatever the nodes are."""

    refusal: Refusal


class Broken(msgspec.Struct, frozen=True):
    """The rule cannot judge this ask; kube-scheduler aborts the attempt with an internal error."""

    message: str


class Ready(msgspec.Struct, frozen=True):
    """The rule will judge rows. `nodes` are the only nodes that may pass, None if any may.

    Unless the check `is_lasting`, a placement on any row may change its verdict on every row. So it
    is too once `elsewhere`, what the check reads of other rows, is no longer what it was; None is
    nothing.
    """

    check: Check
    nodes: frozenset[str] | None = None
    is_lasting: bool = True
    elsewhere: Hashable = None


Prepared = Skipped | Rejected | Broken | Ready
SKIPPED = Skipped()


class Rule(Protocol):
    """One filter plugin."""

    @property
    def name(self) -> str:
        """Return the plugin's name as kube-scheduler spells it."""
        ...

    @property
    def reads(self) -> Reads:
        """Return what a verdict depends on."""
        ...

    def prepare(self, ask: PodAsk, ledger: Ledger) -> Prepared:
        """Return what the rule makes of the ask before it sees any row."""
        ...


def is_static(rule: Rule) -> bool:
    """Return whether verdicts of this rule outlive every placement."""
    return rule.reads is Reads.NODE
