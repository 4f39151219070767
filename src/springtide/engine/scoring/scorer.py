"""What a scorer is: it gives each row that a pod fits on a raw score and a normalised one.

A scorer may have nothing to say about an ask (`Unscored`, kube-scheduler's PreScore with Skip), and
then has no part in the total. One that cannot work (`Broken`) ends the attempt.
"""

from typing import Final, Protocol, TypeAlias

import msgspec

from springtide.engine.framework.rule import Broken, Selection
from springtide.engine.scoring.ask import ScoreAsk
from springtide.model.columns import Int64
from springtide.model.ledger import Ledger

SCORE_MAX: Final = 100


class Scored(msgspec.Struct, frozen=True):
    """The scores of the rows that were asked about, in their order."""

    raw: Int64
    normalised: Int64


class Unscored(msgspec.Struct, frozen=True):
    """The scorer has nothing to say about this ask."""


UNSCORED: Final = Unscored()

Answer: TypeAlias = Scored | Unscored | Broken


class Scorer(Protocol):
    """One score plugin."""

    @property
    def name(self) -> str:
        """Return the plugin's name as kube-scheduler spells it."""
        ...

    def score(self, ask: ScoreAsk, ledger: Ledger, selected: Selection) -> Answer:
        """Return how well the pod would do on each of the selected rows, all of which it fits."""
        ...


def as_is(raw: Int64) -> Scored:
    """Return scores that are between 0 and 100 as they come."""
    return Scored(raw, raw)


def proportional(raw: Int64, *, reverse: bool = False) -> Scored:
    """Return scores as parts of the highest one; in reverse, the highest becomes 0."""
    highest = int(raw.max(initial=0))
    if highest == 0:
        return Scored(raw, raw + SCORE_MAX if reverse else raw)
    parts = SCORE_MAX * raw // highest
    return Scored(raw, SCORE_MAX - parts if reverse else parts)
