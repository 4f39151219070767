"""What to change for pods that no node can help: the scheduler's configuration or a quota is in the way.

Resources of devices are names that no node need have: a scheduler extender looks after them, and the
scheduler is told to leave them alone. A name that is missing there keeps every pod that asks for it
from every node, old and new.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from springtide.apps.planner.picture import Picture
from springtide.apps.planner.schedulers import Schedulers
from springtide.engine.capacity.explain import Stuck
from springtide.engine.placement.classes import PodClass
from springtide.engine.placement.family import DeviceFamily
from springtide.engine.placement.quota import Shortage
from springtide.engine.simulation.templates import Template


def remedies(
    stuck: Iterable[Stuck],
    judges: Schedulers,
    families: Mapping[str, DeviceFamily],
    picture: Picture,
) -> dict[int, str]:
    """Return for each kind of stuck pods, by its place, what to change; kinds without are absent."""
    stuck = tuple(stuck)
    quotas = {index: of_quota(item.shortages) for index, item in enumerate(stuck) if item.shortages}
    return {**quotas, **_of_configuration(stuck, judges, families, picture)}


def of_quota(short: Sequence[Shortage]) -> str:
    """Return what to change where a quota lacks so much."""
    lacks = " and ".join(
        f"{each.asked} {each.resource}, and {each.used} of {each.limit} are used" for each in short
    )
    limits = " and ".join(f"{each.name} be at least {each.enough}" for each in short)
    return (
        f"The quota of namespace {short[0].namespace} is in the way, not a lack of nodes: such a pod "
        f"takes {lacks}. Let {limits}, or let the pod ask for less."
    )


def _of_configuration(
    stuck: Iterable[Stuck],
    judges: Schedulers,
    families: Mapping[str, DeviceFamily],
    picture: Picture,
) -> dict[int, str]:
    if judges.managed is None:
        return {}
    devices = frozenset(name for each in families.values() for name in each.resource_names())
    nobodys = devices.difference(_present(picture))
    found = ((index, _missing(item.pod_class, judges, nobodys)) for index, item in enumerate(stuck))
    return {index: _remedy(names, judges.managed) for index, names in found if names}


def remedy(
    pod_class: PodClass,
    judges: Schedulers,
    families: Mapping[str, DeviceFamily],
    picture: Picture,
) -> str:
    """Return what to change for pods of one class, empty if the configuration is not in the way."""
    if judges.managed is None:
        return ""
    devices = frozenset(name for each in families.values() for name in each.resource_names())
    names = _missing(pod_class, judges, devices.difference(_present(picture)))
    return _remedy(names, judges.managed) if names else ""


def _present(picture: Picture) -> Iterator[str]:
    """Yield the resources that any node has, or would have."""
    resources, count = picture.ledger.resources, picture.ledger.count
    for name, amounts in zip(resources.names.values, resources.allocatable, strict=False):
        if amounts[:count].any():
            yield name
    for item in picture.groups:
        if isinstance(item.template, Template):
            yield from (name for name, _ in item.template.node.allocatable)


def _missing(pod_class: PodClass, judges: Schedulers, nobodys: frozenset[str]) -> list[str]:
    """Return the resources of devices that the pods' scheduler looks for on nodes, in vain."""
    scheduler = pod_class.framework.spec.scheduler_name
    framework = judges.by_name.get(scheduler, judges.framework)
    return [
        name
        for name, amount in pod_class.amounts
        if amount and name in nobodys and framework.counts(name)
    ]


def _remedy(names: list[str], managed: frozenset[str]) -> str:
    what, it = " and ".join(names), "it" if len(names) == 1 else "them"
    why = f"The scheduler's configuration is in the way, not a lack of nodes: no node has {what}, and "
    if managed.issuperset(names):
        return (
            f"{why}the scheduler looks for {it} all the same. "
            f"Set ignoredByScheduler: true for {it} in managedResources of the extender."
        )
    return (
        f"{why}no extender manages {it} in the scheduler's place. "
        f"Add {it} to managedResources of the extender, with ignoredByScheduler: true."
    )
