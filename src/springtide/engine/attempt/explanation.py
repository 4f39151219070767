"""An attempt that failed, for programs: every reason with its plugin, its nodes and the whole text."""

from typing import Final

import msgspec

from springtide.engine.attempt.attempt import Attempt
from springtide.engine.attempt.post_filter import PostFilter
from springtide.model.refusal import Refusal

SAMPLES_MAX: Final = 3


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """What one plugin said of all nodes at once."""

    plugin: str
    code: str
    reasons: tuple[str, ...]


class Counted(msgspec.Struct, frozen=True, kw_only=True):
    """One reason of one plugin, on how many nodes, and a few of them by name."""

    plugin: str
    code: str
    reason: str
    count: int
    sample_nodes: tuple[str, ...]


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """Why a pod has no node. `prefilter` is set if no node was looked at."""

    pod: str
    total: int
    prefilter: Status | None
    histogram: tuple[Counted, ...]
    postfilter: str
    text: str


def explained(made: Attempt) -> Explanation:
    """Return the attempt as a program would read it."""
    rejection = made.prepared.rejection
    return Explanation(
        pod=made.pod.key,
        total=len(made.names),
        prefilter=None if rejection is None else _status(rejection),
        histogram=() if rejection is not None else _histogram(made),
        postfilter=_message(made.post_filter),
        text=made.text,
    )


def code_of(refusal: Refusal) -> str:
    """Return the status code of a refusal as kube-scheduler names it."""
    return "UnschedulableAndUnresolvable" if refusal.is_unresolvable else "Unschedulable"


def _status(refusal: Refusal) -> Status:
    return Status(plugin=refusal.rule, code=code_of(refusal), reasons=refusal.reasons)


def _histogram(made: Attempt) -> tuple[Counted, ...]:
    """Return the reasons in the order of the text; rows that give several count for each."""
    rows_of: dict[tuple[str, str, str], list[int]] = {}
    for refusal, rows in made.refusals():
        for reason in refusal.reasons:
            key = (refusal.rule, code_of(refusal), reason)
            rows_of.setdefault(key, []).extend(rows.tolist())
    found = [
        Counted(
            plugin=plugin,
            code=code,
            reason=reason,
            count=len(rows),
            sample_nodes=tuple(made.names[row] for row in sorted(rows)[:SAMPLES_MAX]),
        )
        for (plugin, code, reason), rows in rows_of.items()
    ]
    return tuple(sorted(found, key=lambda each: f"{each.count} {each.reason}"))


def _message(after: PostFilter | None) -> str:
    return "" if after is None else after.message
