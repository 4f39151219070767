"""One verdict for every distinct value, gathered by code: the shape of a rule over shared sets.

Thousands of nodes share a few dozen sets of taints. A rule judges each set once an ask and looks
the answer up for every row.
"""

from collections.abc import Callable, Hashable, Sequence
from typing import Generic, TypeVar

import numpy as np

from springtide.model.columns import Bool, Int32, Interner

KeyT = TypeVar("KeyT", bound=Hashable)


class DistinctVerdicts(Generic[KeyT]):
    """The answers of one question to the values of one interner, asked when first needed."""

    __slots__ = ("_answers", "_ask", "_interner")

    def __init__(
        self, interner: Interner[KeyT], ask: Callable[[Sequence[KeyT]], Sequence[bool]]
    ) -> None:
        self._interner = interner
        self._ask = ask
        self._answers: Bool = np.zeros(0, np.bool_)

    def of(self, codes: Int32) -> Bool:
        """Return the answer for each code."""
        known = len(self._answers)
        if known < len(self._interner):
            fresh = self._ask(self._interner.values[known:])
            self._answers = np.concatenate([self._answers, np.array(fresh, np.bool_)])
        return self._answers.take(codes)
