"""The schedulers of a KubeSchedulerConfiguration, set up from its profiles.

Loaded only where the input has a configuration.
"""

from collections.abc import Iterator

from springtide.apps.planner.schedulers import Claimable, Schedulers, default_rules
from springtide.engine.framework.profiles import (
    TOPOLOGY_SPREAD,
    CannotSetUp,
    Profile,
    Scheduler,
    set_up,
)
from springtide.model.problem import Problem
from springtide.wire.configurations import SCHEDULER_KIND, Given
from springtide.wire.kubescheduler import CONSTRUCTION_FAULTS, refusal


def configured(given: Given, objects: Claimable) -> Schedulers:
    """Return whose rules judge, or raise InvalidDocument if the scheduler does not start."""
    scheduler = _started(given)
    by_name = {profile.name: objects.framework(profile.framework) for profile in scheduler.profiles}
    return Schedulers(
        framework=default_rules(given.configuration.ignored_by_scheduler, objects),
        by_name=by_name,
        managed=frozenset(
            each.name
            for extender in given.configuration.extenders
            for each in extender.managed_resources
        ),
        spreading=frozenset(each.name for each in scheduler.profiles if _spreads(each)),
        problems=tuple(_replaced(scheduler, given)),
    )


def _spreads(profile: Profile) -> bool:
    is_hard = any(each.is_hard for each in profile.framework.default_spread)
    return is_hard and TOPOLOGY_SPREAD in (profile.framework.filters or (TOPOLOGY_SPREAD,))


def _started(given: Given) -> Scheduler:
    try:
        return set_up(given.configuration, CONSTRUCTION_FAULTS)
    except CannotSetUp as fault:
        raise refusal(given, fault.path, fault.text) from fault


def _replaced(scheduler: Scheduler, given: Given) -> Iterator[Problem]:
    return (
        Problem(
            source=given.origin.label,
            object=SCHEDULER_KIND,
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
