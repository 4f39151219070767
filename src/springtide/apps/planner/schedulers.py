"""Whose rules judge a pod: the profile of the scheduler that it names.

Without a configuration in the input everybody is judged by the default rules, and the resources of
all device families are left to their scheduler extender. With one, a pod is judged by the profile of
its `schedulerName`; pods of a scheduler that has none there are judged by the default rules, and the
answer says so.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from springtide.engine.dynamic_resources.matching import DeviceSelectors
from springtide.engine.framework.framework import Framework, FrameworkConfig
from springtide.engine.framework.profiles import CannotSetUp, Profile, Scheduler, set_up
from springtide.engine.placement.family import DeviceFamily
from springtide.model.pod import Pod
from springtide.model.problem import Problem
from springtide.model.resource_claims import DeviceObjects
from springtide.model.storage import Storage
from springtide.wire.kubescheduler import CONSTRUCTION_FAULTS, KIND, Given, refusal


class Claimable(msgspec.Struct, frozen=True, kw_only=True):
    """What pods can claim: volumes and devices, the latter found by their selectors."""

    storage: Storage
    devices: DeviceObjects
    selectors: DeviceSelectors

    def framework(self, config: FrameworkConfig) -> Framework:
        """Return the rules of a profile that judge claims by these objects."""
        return Framework(config, self.storage, self.devices, self.selectors)


class Schedulers(msgspec.Struct, frozen=True, kw_only=True):
    """The rules of each scheduler by name, and those of every other one.

    `managed` are the resources that extenders manage, None where no configuration was given.
    """

    framework: Framework
    by_name: Mapping[str, Framework] = {}
    managed: frozenset[str] | None = None
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()


def schedulers(
    given: Given | None,
    families: Mapping[str, DeviceFamily],
    pods: Sequence[Pod],
    objects: Claimable,
) -> Schedulers:
    """Return whose rules judge, or raise InvalidDocument if the scheduler does not start.

    All of them judge claims by the same objects.
    """
    if given is None:
        managed = (name for family in families.values() for name in family.resource_names())
        return Schedulers(framework=_ignoring(managed, objects))
    scheduler = _started(given)
    by_name = {profile.name: objects.framework(profile.framework) for profile in scheduler.profiles}
    return Schedulers(
        framework=_ignoring(given.configuration.ignored_by_scheduler, objects),
        by_name=by_name,
        managed=frozenset(
            each.name
            for extender in given.configuration.extenders
            for each in extender.managed_resources
        ),
        problems=tuple(_replaced(scheduler, given)),
        notes=_notes(by_name, pods),
    )


def _ignoring(resources: Iterable[str], objects: Claimable) -> Framework:
    return objects.framework(FrameworkConfig(ignored_resources=frozenset(resources)))


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


def _notes(by_name: Mapping[str, Framework], pods: Sequence[Pod]) -> tuple[str, ...]:
    strangers = Counter(
        pod.spec.scheduler_name for pod in pods if pod.spec.scheduler_name not in by_name
    )
    return tuple(_note(name, count) for name, count in sorted(strangers.items()))


def _note(name: str, count: int) -> str:
    who, whom = ("1 pod names", "it is") if count == 1 else (f"{count} pods name", "they are")
    return (
        f'{who} the scheduler "{name}", which has no profile in the scheduler configuration; '
        f"{whom} judged by the default rules."
    )
