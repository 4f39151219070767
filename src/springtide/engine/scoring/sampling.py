"""How many nodes that fit kube-scheduler looks for before it scores those that it has found."""

from typing import Final

NODES_MIN: Final = 100
PERCENT_MIN: Final = 5
PERCENT_START: Final = 50
NODES_PER_PERCENT: Final = 125
ALL: Final = 100


def nodes_to_find(count: int, *, percentage: int = 0) -> int:
    """Return how many nodes of so many are enough; 0 percent is a share that falls with them."""
    if count < NODES_MIN:
        return count
    share = percentage or max(PERCENT_START - count // NODES_PER_PERCENT, PERCENT_MIN)
    return max(count * min(share, ALL) // ALL, NODES_MIN)
