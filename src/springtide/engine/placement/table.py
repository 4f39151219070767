"""One class's table: what every row says to its pods, as arrays.

A row's `code` is `FITS`, a framework rule's code or one of the codes below, and its `rank` is the
score by which rows that fit are preferred, minus infinity for all others. Whether a row has enough
devices is known at once; which device refuses and why is told where somebody asks (`told`).

A refresh writes to a hundred rows far apart, so that every array it need not touch is time saved.
"""

from typing import Final

import msgspec
import numpy as np
import numpy.typing as npt

from springtide.engine.framework.framework import PreparedAsk
from springtide.engine.framework.verdicts import PASSES, Verdicts
from springtide.engine.placement.classes import PodClass
from springtide.engine.placement.family import ABSENT, Ask, Rows
from springtide.engine.placement.policy import Policy
from springtide.engine.placement.screening import Screen
from springtide.model.columns import Bool, Float32, grown
from springtide.model.refusal import Refusal

FITS: Final = 0
# Framework rules count from 1; what comes after them starts here.
SENSELESS: Final = 249
UNREGISTERED: Final = 250
CLOSED: Final = 251
DEVICES: Final = 252
DEVICES_INEXACT: Final = 253
EXACT: Final = 254

_NOWHERE: Final = np.float32(-np.inf)
_PER_ROW: Final = (
    "agreed", "code", "detail", "family", "proved", "settled", "told", "unresolvable",
)  # fmt: skip


class Table:
    """The verdicts of one class, by row.

    `detail` and `unresolvable` belong to a framework rule and mean nothing where none refuses,
    `device_codes` to the family that refuses (`family`, by index of the ask), as far as they are
    `told`. `exact` holds refusals that an exact placement or an extender gave; extenders have `agreed`
    to a row's node. A `proved` row has placed a pod exactly, as it is now.
    What a `settled` row says stands whatever is placed on it.
    `covered` is what the rows said that rules over other nodes have overruled. `asks` are the class's,
    bounded by what a quota leaves, and `screens` their own, None where a family has none. `scored_by` is
    the version of the policy that scored, if there is one.
    """

    def __init__(self, pod_class: PodClass, rows: int, *, policy: Policy | None = None) -> None:
        self.pod_class = pod_class
        self.policy = policy
        self.scored_by = -1
        self.asks: tuple[Ask, ...] = pod_class.asks
        self.screens: tuple[Screen | None, ...] = ()
        self.prepared: PreparedAsk | None = None
        self.position = -1
        self.asked_at = -1
        self.has_families = len(pod_class.asks) > 1
        self.has_settled = False
        self.has_told = False
        self.settled: Bool = np.zeros(rows, np.bool_)
        self.agreed: Bool = np.zeros(rows, np.bool_)
        self.has_proved = False
        self.proved: Bool = np.zeros(rows, np.bool_)
        self.code: npt.NDArray[np.uint8] = np.zeros(rows, np.uint8)
        self.detail: npt.NDArray[np.uint64] = np.zeros(rows, np.uint64)
        self.unresolvable: Bool = np.zeros(rows, np.bool_)
        self.family: npt.NDArray[np.uint8] = np.zeros(rows, np.uint8)
        self.rank: Float32 = np.full(rows, _NOWHERE, np.float32)
        self.told: Bool = np.zeros(rows, np.bool_)
        self.device_codes: npt.NDArray[np.uint8] = np.zeros((0, 0), np.uint8)
        self.exact: dict[int, Refusal] = {}
        self.covered: _Covered | None = None

    def grow(self, rows: int) -> None:
        """Make room for this many rows."""
        for name in _PER_ROW:
            setattr(self, name, grown(getattr(self, name), rows))
        known = len(self.rank)
        self.rank = grown(self.rank, rows)
        self.rank[known:] = _NOWHERE

    @property
    def is_scored(self) -> bool:
        """Return whether the policy, if there is one, still says what it said."""
        return self.policy is None or self.scored_by == self.policy.version

    def judge(self, rows: Rows, verdicts: Verdicts) -> Rows:
        """Store what the framework says of these rows, and return those that pass."""
        self.rank[rows] = _NOWHERE
        passes = verdicts.rule == PASSES
        if np.count_nonzero(passes) == len(rows):
            self.code[rows] = FITS
            return rows
        self.code[rows] = verdicts.rule
        self.detail[rows] = verdicts.detail
        self.unresolvable[rows] = verdicts.unresolvable
        left: Rows = rows[passes]
        return left

    def lasting(self, below: int) -> Bool:
        """Return which rows below one a framework rule refuses so that evicting pods cannot help."""
        code = self.code[:below]
        found: Bool = self.unresolvable[:below] & (code != FITS) & (code < SENSELESS)
        return found

    def refuse(self, row: int, refusal: Refusal) -> None:
        """Write back what an exact placement or an extender said."""
        self.code[row] = EXACT
        self.exact[row] = refusal
        self.rank[row] = _NOWHERE

    def prove(self, row: int) -> None:
        """Note that a row takes a pod, by its exact placement."""
        self.has_proved = True
        self.proved[row] = True

    def forget_exact(self, rows: Rows) -> None:
        """Drop what was written back of these rows, which are judged anew."""
        if self.has_proved:
            self.proved[rows] = False
        if self.exact:
            for row in self.exact.keys() & set(rows.tolist()):
                del self.exact[row]

    def tell(self, rows: Rows, codes: npt.NDArray[np.uint8]) -> None:
        """Store the devices' codes [rows, width] of these rows."""
        width, before = codes.shape[1], self.device_codes.shape[1]
        table = grown(self.device_codes, len(self.code))
        self.device_codes = grown(table, width, axis=1)
        # What was told when nodes were narrower has no device there.
        self.device_codes[:, before:] = ABSENT
        self.device_codes[rows, :width] = codes
        self.device_codes[rows, width:] = ABSENT
        self.told[rows] = True
        self.has_told = True

    def forget_told(self, rows: Rows) -> None:
        """Know that what devices said of these rows is out of date."""
        if self.has_told:
            self.told[rows] = False

    def cover(self, rows: Rows, verdicts: Verdicts) -> None:
        """Let these verdicts stand for the rows until they are uncovered."""
        self.covered = _Covered(
            rows=rows,
            code=self.code[rows],
            detail=self.detail[rows],
            unresolvable=self.unresolvable[rows],
            rank=self.rank[rows],
        )
        self.code[rows] = verdicts.rule
        self.detail[rows] = verdicts.detail
        self.unresolvable[rows] = verdicts.unresolvable
        self.rank[rows] = _NOWHERE

    def uncover(self) -> None:
        """Let the rows say again what they say by themselves."""
        if self.covered is not None:
            rows = self.covered.rows
            self.code[rows] = self.covered.code
            self.detail[rows] = self.covered.detail
            self.unresolvable[rows] = self.covered.unresolvable
            self.rank[rows] = self.covered.rank
            self.covered = None


class _Covered(msgspec.Struct, frozen=True, kw_only=True):
    """What some rows of a table said by themselves."""

    rows: Rows
    code: npt.NDArray[np.uint8]
    detail: npt.NDArray[np.uint64]
    unresolvable: Bool
    rank: Float32
