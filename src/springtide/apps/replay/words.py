"""The answer in a sentence or two."""

from collections.abc import Sequence

from springtide.apps.planner.words import counted, joined
from springtide.apps.replay.report import ChangesReport, DifferenceReport, RunReport


def summary(
    runs: Sequence[RunReport],
    changes: ChangesReport,
    differences: Sequence[DifferenceReport],
    *,
    pods: int,
) -> str:
    """Return what differs between the first two runs."""
    first, second = runs[:2]
    names = f"{first.policy} and {second.policy}"
    if not pods:
        return "There is no pod to replay."
    if not differences:
        return f"No difference: {names} treat {_all(pods)} alike."
    count = len(differences)
    verb = "differs" if count == 1 else "differ"
    which = differences[0].pod
    begin = "" if count == 1 else f", from {which} on"
    whom = f"{which}, 1 of {counted(pods, 'pod')}," if count == 1 else f"{count} of {pods} pods"
    opening = f"{whom} {verb} between {names}{begin}: {_how(changes)}."
    return " ".join([opening, _outcome(first, second)])


def _all(pods: int) -> str:
    return "the 1 pod" if pods == 1 else f"all {pods} pods"


def _how(changes: ChangesReport) -> str:
    parts = (
        (changes.placed, "placed only by the latter"),
        (changes.refused, "refused only by the latter"),
        (changes.node, "on another node"),
        (changes.devices, "on other devices of the same node"),
    )
    return joined([f"{count} {text}" for count, text in parts if count])


def _outcome(first: RunReport, second: RunReport) -> str:
    """Return which policy places more and needs fewer nodes."""
    return (
        f"{second.policy} {_compared('places', second.placed, first.placed, 'pod')} "
        f"and {_compared('uses', second.nodes_in_use, first.nodes_in_use, 'node')}."
    )


def _compared(verb: str, count: int, before: int, noun: str) -> str:
    change = count - before
    if not change:
        return f"{verb} as many {noun}s"
    return f"{verb} {counted(abs(change), noun)} {'more' if change > 0 else 'fewer'}"
