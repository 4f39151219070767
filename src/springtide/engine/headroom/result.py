"""What is known of the room for one class."""

from collections.abc import Sequence

import msgspec

from springtide.engine.placement.family import Rows
from springtide.model.columns import Int64
from springtide.model.refusal import Refusal


class Room(msgspec.Struct, frozen=True, kw_only=True):
    """How many more pods each row takes, and why each refuses the next one.

    `counts` [rows]; `refusals` name every row once, or those that were left open where the search was
    cut short (`is_cut`: there may be room for more).
    """

    counts: Int64
    refusals: Sequence[tuple[Refusal, Rows]]
    is_cut: bool = False
