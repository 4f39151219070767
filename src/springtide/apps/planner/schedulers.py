"""Whose rules judge a pod: the profile of the scheduler that it names.

Without a configuration in the input everybody is judged by the default rules, and the resources of
all device families are left to their scheduler extender. With one, a pod is judged by the profile of
its `schedulerName`; pods of a scheduler that has none there are judged by the default rules, and the
answer says so.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from springtide.engine.framework.framework import Framework, FrameworkConfig
from springtide.engine.framework.profiles import (
    TOPOLOGY_SPREAD,
    CannotSetUp,
    Profile,
    Scheduler,
    set_up,
)
from springtide.engine.placement.family import DeviceFamily
from springtide.model.pod import Pod
from springtide.model.problem import Problem
from springtide.model.selecting import Selecting
from springtide.model.storage import Storage
from springtide.wire.kubescheduler import CONSTRUCTION_FAULTS, KIND, Given, refusal

UNSELECTED: Final = (
    "The scheduler spreads pods by default that a service or their controller selects, but the input "
    "has no Service, ReplicaSet, StatefulSet or Deployment; add them to have these pods spread."
)


class Schedulers(msgspec.Struct, frozen=True, kw_only=True):
    """The rules of each scheduler by name, and those of every other one.

    `spreading` are those that spread pods hard which state no constraint.
    """

    framework: Framework
    by_name: Mapping[str, Framework] = {}
    spreading: frozenset[str] = frozenset()
    problems: tuple[Problem, ...] = ()


def schedulers(
    given: Given | None, families: Mapping[str, DeviceFamily], storage: Storage
) -> Schedulers:
    """Return whose rules judge, or raise InvalidDocument if the scheduler does not start.

    All of them judge claims by the same storage.
    """
    if given is None:
        managed = (name for family in families.values() for name in family.resource_names())
        return Schedulers(framework=_ignoring(managed, storage))
    scheduler = _started(given)
    by_name = {
        profile.name: Framework(profile.framework, storage) for profile in scheduler.profiles
    }
    return Schedulers(
        framework=_ignoring(given.configuration.ignored_by_scheduler, storage),
        by_name=by_name,
        spreading=frozenset(each.name for each in scheduler.profiles if _spreads(each)),
        problems=tuple(_replaced(scheduler, given)),
    )


def _spreads(profile: Profile) -> bool:
    is_hard = any(each.is_hard for each in profile.framework.default_spread)
    return is_hard and TOPOLOGY_SPREAD in (profile.framework.filters or (TOPOLOGY_SPREAD,))


def _ignoring(resources: Iterable[str], storage: Storage) -> Framework:
    return Framework(FrameworkConfig(ignored_resources=frozenset(resources)), storage)


def _started(given: Given) -> Scheduler:
    try:
        return set_up(given.configuration, CONSTRUCTION_FAULTS)
    except CannotSetUp as fault:
        raise refusal(given, fault.path, fault.text) from fault


def _replaced(scheduler: Scheduler, given: Given) -> Iterator[Problem]:
    return (
        Problem(
            source=given.origin.label,
            object=KIND,
            field=f"profiles[{index}].pluginConfig",
            message=_replacement(profile),
        )
        for index, profile in enumerate(scheduler.profiles)
        if profile.replaced
    )


def _replacement(profile: Profile) -> str:
    names = ", ".join(profile.replaced)
    return (
        f"ignoredResources of NodeResourcesFit has no effect for {names}, because kube-scheduler "
        "takes those of the extenders instead; add them to managedResources of an extender, or to "
        "ignoredResourceGroups."
    )


def scheduler_notes(
    judges: Schedulers, pods: Sequence[Pod], selecting: Selecting
) -> tuple[str, ...]:
    """Return what is worth knowing about whose rules judge these pods."""
    strangers = Counter(
        pod.spec.scheduler_name
        for pod in pods
        if judges.by_name and pod.spec.scheduler_name not in judges.by_name
    )
    notes = [_note(name, count) for name, count in sorted(strangers.items())]
    if judges.spreading and not selecting.services and not selecting.controllers:
        notes.append(UNSELECTED)
    return tuple(notes)


def _note(name: str, count: int) -> str:
    who, whom = ("1 pod names", "it is") if count == 1 else (f"{count} pods name", "they are")
    return (
        f'{who} the scheduler "{name}", which has no profile in the scheduler configuration; '
        f"{whom} judged by the default rules."
    )
