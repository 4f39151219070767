"""Priority: the group that its owner prefers.

As Cluster Autoscaler's priority expander, with the numbers on the groups themselves: the highest
priority wins, all groups that share it stay. A priority below -1 never wins over another group.
"""

from collections.abc import Sequence

from springtide.engine.capacity.options import Judgement, Option

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
                f"priority {option.group.priority}",
            )
            for option in options
        ]
