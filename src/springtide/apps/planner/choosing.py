"""Whom a plan is for: all pods that wait, or those of one namespace."""

from collections.abc import Iterable

from msgspec.structs import replace

from springtide.apps.planner.picture import Picture
from springtide.model.pod import Pod


def within(picture: Picture, namespace: str) -> tuple[Picture, tuple[str, ...]]:
    """Return the picture with only this namespace's pods to plan for, and what to say about it.

    Everything else stays: pods that run keep what they hold, whoever they belong to.
    """
    chosen = replace(
        picture,
        waiting=tuple(pod for pod in picture.waiting if pod.namespace == namespace),
        gangs=tuple(gang for gang in picture.gangs if gang.namespace == namespace),
        apart=_of(picture.apart, namespace),
        denied=_of(picture.denied, namespace),
    )
    left_out = len(picture.waiting) - len(chosen.waiting)
    return chosen, (_note(left_out, namespace),) if left_out else ()


def _of(pods: Iterable[tuple[Pod, str]], namespace: str) -> tuple[tuple[Pod, str], ...]:
    return tuple((pod, reason) for pod, reason in pods if pod.namespace == namespace)


def _note(count: int, namespace: str) -> str:
    are, they = ("1 pending pod", "it") if count == 1 else (f"{count} pending pods", "they")
    return (
        f"{are} of other namespaces than {namespace} {'is' if count == 1 else 'are'} not planned "
        f"for, as if {they} were not there."
    )
