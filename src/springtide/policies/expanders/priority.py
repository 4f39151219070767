"""Priority: the group that its owner prefers.

As Cluster Autoscaler's priority expander, with the numbers on the groups: the highest priority
wins, all groups that share it stay. A priority below -1 never wins over another group.
"""

from collections.abc import Sequence

from springtide.engine.capacity.options import Judgement, Option
from springtide.model.group import UNRANKED

LOWEST_WINNING = -1


class Priority:
    """Keeps the options whose group has the highest priority."""

    name = "priority"

    def judge(self, options: Sequence[Option]) -> list[Judgement]:
        """Return a judgement for every option; if no priority can win, all stay."""
        eligible = [
            option.group.priority for option in options if option.group.priority >= LOWEST_WINNING
        ]
        highest = max(eligible, default=None)
        return [
            Judgement(
                option,
                highest is None or option.group.priority == highest,
                _why(option.group.priority),
            )
            for option in options
        ]


def _why(priority: int) -> str:
    if priority == UNRANKED:
        return "no pattern of the priorities matches it"
    return f"priority {priority}" + (", which never wins" if priority < LOWEST_WINNING else "")
