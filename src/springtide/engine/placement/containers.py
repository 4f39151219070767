"""A whole pod on one node, container by container.

Init containers are tried one by one, each against the node as it is now: they run alone and do not
see each other's use. App containers run together: they are tried in order against one trial that
each of them fills further. The first container that is refused refuses the pod.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

from springtide.model.device import Grant
from springtide.model.refusal import Refusal

RequestT = TypeVar("RequestT")
TrialT = TypeVar("TrialT")

Grants = tuple[Grant, ...]


def place_containers(
    requests: Sequence[RequestT | None],
    *,
    init_count: int,
    fresh: Callable[[], TrialT],
    fit: Callable[[TrialT, RequestT], Grants | Refusal],
) -> tuple[Grants, ...] | Refusal:
    """Return each container's grants (none where it asks for none), or the first refusal.

    `fresh` gives a trial of the node as it is, `fit` serves one request from a trial and charges it.
    """
    containers: list[Grants] = []
    shared: TrialT | None = None
    for position, request in enumerate(requests):
        if request is None:
            containers.append(())
            continue
        trial = fresh() if shared is None else shared
        granted = fit(trial, request)
        if isinstance(granted, Refusal):
            return granted
        if position >= init_count:
            shared = trial
        containers.append(granted)
    return tuple(containers)
