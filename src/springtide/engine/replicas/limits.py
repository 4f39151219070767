"""How far one decision may go: a step each way, a floor, and bounds, in this order.

The bounds come last and hold always. A floor is what must stay because of who leads or what a
provider says; it is no demand, and an upper bound below it wins, as the operator set it.
"""

from springtide.model.replicas.rules import Limits


def stepped(raw: int, *, current: int, limits: Limits) -> int:
    """Return the number that one step from the current one reaches."""
    if raw > current and limits.step_up_max > 0:
        return min(raw, current + limits.step_up_max)
    if raw < current and limits.step_down_max > 0:
        return max(raw, current - limits.step_down_max)
    return raw


def bounded(raw: int, *, floor: int, limits: Limits) -> int:
    """Return the number inside the bounds, and not below the floor where they allow it."""
    return min(max(raw, floor, limits.least), limits.most)
