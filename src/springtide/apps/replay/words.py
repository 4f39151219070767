"""The answer in a sentence or two."""

from collections.abc import Sequence

from springtide.apps.planner.words import counted, joined
from springtide.apps.replay.policies import RECORDED
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
    names = f"{_subject(first)} and {_subject(second)}"
    if not pods:
        return "There is no pod to replay."
    if not differences:
        return f"{counted(pods, 'pod')} replayed: {names} do not differ."
    count = len(differences)
    verb = "differs" if count == 1 else "differ"
    how = _how(changes, first, second)
    opening = f"{count} of {counted(pods, 'pod')} {verb} between {names}: {how}."
    return " ".join([opening, _outcome(first, second)])


def _subject(run: RunReport) -> str:
    return "the record" if run.policy == RECORDED else run.policy


def _where(run: RunReport) -> str:
    return "in the record" if run.policy == RECORDED else f"under {run.policy}"


def _how(changes: ChangesReport, first: RunReport, second: RunReport) -> str:
    parts = (
        (changes.refused, f"placed only {_where(first)}"),
        (changes.placed, f"placed only {_where(second)}"),
        (changes.node, "on another node"),
        (changes.devices, "on other devices of the same node"),
    )
    return joined([f"{count} {text}" for count, text in parts if count])


def _outcome(first: RunReport, second: RunReport) -> str:
    """Return which policy places more and needs fewer nodes."""
    where = _where(second)
    placed = _compared(second.placed - first.placed, "pod")
    used = _compared(second.nodes_in_use - first.nodes_in_use, "node")
    return f"{where[0].upper()}{where[1:]}, {placed} placed and {used} in use."


def _compared(change: int, noun: str) -> str:
    """Return the beginning of a sentence such as `2 pods fewer are`."""
    if not change:
        return f"as many {noun}s are"
    count, more = abs(change), "more" if change > 0 else "fewer"
    return f"{counted(count, noun)} {more} {'is' if count == 1 else 'are'}"
