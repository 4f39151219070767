"""A larger quota of the namespace, where it is what keeps the pod away."""

from collections.abc import Iterator

from springtide.engine.explain.changes import Change, ChangeKind
from springtide.engine.explain.trial import Trial
from springtide.engine.placement.beyond_quota import cheapest
from springtide.engine.placement.quota import Shortage
from springtide.model.pod import Pod


def raised(pod: Pod, trial: Trial) -> Iterator[Change]:
    """Yield the smallest quota with which some row takes the pod, if it has too small a one."""
    found = cheapest(trial.class_of(pod), trial.tables)
    if found is None or not found[1]:
        return
    row, short = found
    yield Change(
        kind=ChangeKind.RAISE_QUOTA,
        text=f"raise the quota of namespace {pod.namespace}: {', '.join(map(_raise, short))}",
        subject=" and ".join(each.name for each in short),
        before=" and ".join(str(each.stated) for each in short),
        after=" and ".join(str(each.enough) for each in short),
        node=trial.name(row),
        size=max(each.enough - each.stated for each in short),
    )


def _raise(each: Shortage) -> str:
    return f"{each.name} {each.enough} instead of {each.stated}"
