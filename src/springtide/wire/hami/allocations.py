"""What is written on a pod of the devices that it holds: which texts count, and for which container.

The text alone does not say it. A pod that waits again after a failed bind holds nothing, whatever is
still written; and schedulers since August 2026 leave out the entries of containers without devices.
"""

from collections.abc import Sequence

from springtide.model.device import Grant
from springtide.model.pod import Pod
from springtide.wire.hami import keys

Grants = tuple[Grant, ...]


def fell_back(pod: Pod) -> bool:
    """Return whether the pod waits again after a failed bind."""
    is_failed = pod.annotations.get(keys.BIND_PHASE) == keys.BIND_FAILED
    return is_failed and not pod.node_name and pod.phase == "Pending"


def realigned(granted: tuple[Grants, ...], is_asking: Sequence[bool]) -> tuple[Grants, ...]:
    """Return one entry per container: a short list is dealt to those that ask, in order."""
    if len(granted) >= len(is_asking):
        return granted
    asking = [position for position, asks in enumerate(is_asking) if asks]
    filled = [grants for grants in granted if grants]
    if len(filled) > len(asking):
        return granted + ((),) * (len(is_asking) - len(granted))
    aligned: list[Grants] = [()] * len(is_asking)
    for position, grants in zip(asking, filled, strict=False):
        aligned[position] = grants
    return tuple(aligned)


def without_ended_init(granted: tuple[Grants, ...], pod: Pod) -> tuple[Grants, ...]:
    """Return the grants, those of init containers left out once all of them have ended."""
    count = len(pod.spec.init_containers)
    return ((),) * count + granted[count:] if pod.is_init_done else granted
