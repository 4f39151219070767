"""What a gang lacks: how many of its pods would run beside everything else, and which fit nowhere."""

from collections.abc import Callable
from typing import TypeVar

import msgspec

from springtide.engine.gang.ground import Ground, trial
from springtide.engine.gang.tally import Tally, first_needed, tally, without
from springtide.model.gang import Gang
from springtide.model.pod import Pod

Explained = TypeVar("Explained")


class Shortfall(msgspec.Struct, frozen=True, kw_only=True):
    """How far a gang gets on some ground; `left` are its pods that fit nowhere, those it needs first."""

    tally: Tally
    left: tuple[Pod, ...]


def shortfall(gang: Gang, ground: Ground) -> Shortfall:
    """Return how far the gang gets; nothing of it stays on the ground."""
    return explained(gang, ground, lambda lack: lack)


def explained(gang: Gang, ground: Ground, explain: Callable[[Shortfall], Explained]) -> Explained:
    """Return what `explain` makes of the shortfall while the pods that fit are still there."""
    with trial(ground):
        return explain(placed(gang, ground))


def placed(gang: Gang, ground: Ground) -> Shortfall:
    """Place what fits of the gang, the pods that it needs first, and return what is left."""
    needed = first_needed(gang)
    left = ground.place(needed)
    others = without(gang.pods, needed)
    if others:
        left = (*left, *ground.place(others))
    return Shortfall(tally=tally(gang, {pod.uid for pod in left}), left=left)
