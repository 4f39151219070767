"""How many pods come: as many as ask for a given share of the cluster's GPUs.

Too few, and clones of pods drawn from the list follow at the end, until the next would exceed the
share. The published experiments count a draw with what it asks of one GPU, so a clone of several GPUs
may overshoot, and so it does here. Too many, and pods drawn at random leave, until the rest fits.
"""

import math
from collections.abc import Sequence
from typing import Final

from springtide.engine.trace.chance import Chance
from springtide.engine.trace.errors import UnusableTrace
from springtide.model.trace import TracePod

ARRIVALS_MAX: Final = 10_000_000


def tuned(
    order: Sequence[int],
    pods: Sequence[TracePod],
    *,
    target_milli: float,
    chance: Chance,
    arrivals_max: int = ARRIVALS_MAX,
) -> list[int]:
    """Return the order with clones added or pods left out; a target of 0 changes nothing."""
    if not math.isfinite(target_milli) or target_milli < 0:
        raise UnusableTrace("The share of GPUs to ask for is no number from 0 on; give one.")
    total_milli = sum(pod.gpus * pod.gpu_milli for pod in pods)
    if target_milli == 0:
        return list(order)
    if total_milli > target_milli:
        return _thinned(order, pods, excess_milli=total_milli - target_milli, chance=chance)
    if not total_milli:
        raise UnusableTrace("No pod asks for a GPU, so clones add none; tune to 0.")
    arrivals = _extended(
        order,
        pods,
        room_milli=target_milli - total_milli,
        chance=chance,
        arrivals_max=arrivals_max,
    )
    if len(arrivals) >= arrivals_max:
        raise UnusableTrace(
            f"It takes {arrivals_max:,} pods or more to ask for that many GPUs; tune to less."
        )
    return arrivals


def _extended(
    order: Sequence[int],
    pods: Sequence[TracePod],
    *,
    room_milli: float,
    chance: Chance,
    arrivals_max: int,
) -> list[int]:
    arrivals = list(order)
    while len(arrivals) < arrivals_max:
        drawn = chance.choice_index(len(pods))
        pod = pods[drawn]
        if pod.gpu_milli > room_milli:
            break
        room_milli -= pod.gpus * pod.gpu_milli
        arrivals.append(drawn)
    return arrivals


def _thinned(
    order: Sequence[int], pods: Sequence[TracePod], *, excess_milli: float, chance: Chance
) -> list[int]:
    arrivals = list(order)
    while excess_milli > 0:
        pod = pods[arrivals.pop(chance.choice_index(len(arrivals)))]
        excess_milli -= pod.gpus * pod.gpu_milli
    return arrivals
