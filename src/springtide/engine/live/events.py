"""The events that people read on a pod, in the words that others match."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from springtide.engine.live.commands import RecordEvent
from springtide.engine.placement.reasons import parse
from springtide.model.pod import Pod

FILTERING_FAILED: Final = "FilteringFailed"
FILTERING_SUCCEED: Final = "FilteringSucceed"
BINDING_FAILED: Final = "BindingFailed"
BINDING_SUCCEED: Final = "BindingSucceed"

NAMES_MAX: Final = 16
"""Nodes that an event names; it must not be longer than a kilobyte."""


def not_fitting(pod: Pod, refusals: Mapping[str, str], *, asked: int) -> tuple[RecordEvent, ...]:
    """Return what is said of a pod that no node takes: one event a reason, and the sum."""
    by_reason: dict[str, list[str]] = {}
    reasons = {text: tuple(parse(text)) for text in set(refusals.values())}
    for name, text in refusals.items():
        for reason in reasons[text]:
            by_reason.setdefault(reason, []).append(name)
    told = [
        f"{len(names)} nodes {reason}({_listed(sorted(names))})"
        for reason, names in sorted(by_reason.items())
    ]
    told.append(f"no available node, {asked} nodes do not meet")
    return tuple(failed(pod, text) for text in told)


def failed(pod: Pod, message: str) -> RecordEvent:
    """Return what is said of a pod for which no node could be found."""
    return _event(pod, FILTERING_FAILED, message, is_warning=True)


def fitting(
    pod: Pod, node: str, scores: Sequence[tuple[str, float]], *, asked: int, fits: int
) -> RecordEvent:
    """Return what is said of a pod that gets a node; the scores are those of all that fit, ascending, or of the best."""
    best = ",".join(f"{name}:{score:.2f}" for name, score in scores)
    listed = best if len(scores) == fits else f"...,{best}"
    text = f"find fit node({node}), {asked - fits} nodes not fit, {fits} nodes fit({listed})"
    return _event(pod, FILTERING_SUCCEED, text)


def bound(pod: Pod, node: str) -> RecordEvent:
    """Return what is said of a pod that is bound."""
    return _event(pod, BINDING_SUCCEED, f"Successfully binding node [{node}] to {pod.key}")


def not_bound(pod: Pod, message: str) -> RecordEvent:
    """Return what is said of a pod that could not be bound."""
    return _event(pod, BINDING_FAILED, message, is_warning=True)


def _event(pod: Pod, reason: str, message: str, *, is_warning: bool = False) -> RecordEvent:
    return RecordEvent(
        uid=pod.uid,
        namespace=pod.namespace,
        name=pod.name,
        reason=reason,
        message=message,
        is_warning=is_warning,
    )


def _listed(names: Iterable[str]) -> str:
    named = list(names)
    return ",".join(named if len(named) <= NAMES_MAX else [*named[:NAMES_MAX], "..."])
