"""Exact placements on one node's devices; equal questions are answered once."""

from typing import Final

from springtide.engine.placement.family import Ask
from springtide.engine.placement.grounds import Grounds
from springtide.engine.placement.policy import Ranks
from springtide.model.device import Allocation, DeviceView
from springtide.model.refusal import Refusal

ANSWERS_MAX: Final = 65_536
"""What many new nodes alike ask for; each takes about a kilobyte."""


class ExactFit:
    """What families say of one ask on one node, in the order that a policy may give the devices."""

    def __init__(self, grounds: Grounds, *, answers_max: int = ANSWERS_MAX) -> None:
        self._ledger = grounds.ledger
        self._families = grounds.families
        self._policies = grounds.policies
        self._answers_max = answers_max
        self._answers: dict[tuple[Ask, DeviceView, Ranks], Allocation | Refusal] = {}

    def on_row(self, ask: Ask, row: int) -> Allocation | Refusal:
        """Return the placement on a row as it is now; its devices must be registered."""
        view = self._ledger.view(row, ask.family)
        assert view is not None
        return self.on(ask, view)

    def on(self, ask: Ask, view: DeviceView) -> Allocation | Refusal:
        """Return the placement on a view."""
        policy = self._policies.for_devices(ask)
        ranks = () if policy is None else policy.ranks(ask, view)
        key = (ask, view, ranks)
        answer = self._answers.get(key)
        if answer is None:
            if len(self._answers) >= self._answers_max:
                self._answers.clear()
            answer = self._families[ask.family].place(ask, view, ranks=ranks)
            self._answers[key] = answer
        return answer
