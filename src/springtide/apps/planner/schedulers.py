"""Whose rules judge a pod: the profile of the scheduler that it names.

Without a configuration in the input everybody is judged by the default rules, and the resources of
all device families are left to their scheduler extender. With one, a pod is judged by the profile of
its `schedulerName`; pods of a scheduler that has none there are judged by the default rules, and the
answer says so.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from springtide.engine.dynamic_resources.matching import DeviceSelectors
from springtide.engine.framework.framework import Framework, FrameworkConfig
from springtide.engine.placement.family import DeviceFamily
from springtide.model.pod import Pod
from springtide.model.problem import Problem
from springtide.model.resource_claims import DeviceObjects
from springtide.model.selecting import Selecting
from springtide.model.storage import Storage
from springtide.wire.configurations import Given

UNSELECTED: Final = (
    "The scheduler spreads pods by default that a service or their controller selects, but the input "
    "has no Service, ReplicaSet, StatefulSet or Deployment; add them to have these pods spread."
)


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
    `spreading` are those that spread pods hard which state no constraint.
    """

    framework: Framework
    by_name: Mapping[str, Framework] = {}
    managed: frozenset[str] | None = None
    spreading: frozenset[str] = frozenset()
    problems: tuple[Problem, ...] = ()


def schedulers(
    given: Given | None, families: Mapping[str, DeviceFamily], objects: Claimable
) -> Schedulers:
    """Return whose rules judge, or raise InvalidDocument if the scheduler does not start.

    All of them judge claims by the same objects.
    """
    if given is None:
        managed = (name for family in families.values() for name in family.resource_names())
        return Schedulers(framework=default_rules(managed, objects))
    # Few inputs have a configuration, and every start would pay for loading what sets it up.
    from springtide.apps.planner.configured import configured  # noqa: PLC0415

    return configured(given, objects)


def default_rules(ignored: Iterable[str], objects: Claimable) -> Framework:
    """Return the default rules, without the resources that are left to extenders."""
    return objects.framework(FrameworkConfig(ignored_resources=frozenset(ignored)))


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
