"""From decoded objects to what the engine works on: a ledger, templates, pending pods.

One broken node or pod is left out or closed, and reported; it never takes the others down.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from springtide.apps.planner.gangs import gathered
from springtide.apps.planner.namespace_quotas import beyond_quota, charges_of, quotas_of
from springtide.apps.planner.node_groups import add_node, registered_on, sized_groups, usable
from springtide.apps.planner.picture import Picture
from springtide.apps.planner.pods_read import everyone, shares_of, sorted_out
from springtide.engine.dynamic_resources.copies import slices_by_node
from springtide.engine.framework.ask import keys_read
from springtide.engine.framework.default_selector import DefaultSelectors
from springtide.engine.placement.classes import standing_holding
from springtide.engine.placement.family import DeviceFamily
from springtide.engine.preemption import Evictable, Residents
from springtide.engine.simulation.daemons import daemon_sets
from springtide.engine.simulation.templates import Fleet
from springtide.model.ledger import Ledger
from springtide.model.pod import Pod
from springtide.model.presence import standing
from springtide.model.problem import Problem
from springtide.wire.documents import Input


def assemble(
    found: Input,
    families: Mapping[str, DeviceFamily],
    *,
    spreading: frozenset[str] = frozenset(),
) -> Picture:
    """Return the picture of everything that was read.

    `spreading` are the schedulers that spread pods hard which state no constraint.
    """
    problems: list[Problem] = []
    ledger = Ledger()
    ledger.namespaces = found.namespaces
    ledger.quotas = quotas_of(found.quotas, families, problems=problems)
    registered = {node.name: add_node(ledger, node, families, problems) for node in found.nodes}
    for group in found.groups:
        if group.template is not None:
            registered[group.template.name] = registered_on(group.template, families)
    pods, denied = everyone(found, families, problems)
    placed, waiting, apart = sorted_out(pods, ledger.rows, found.device_objects)
    defaults = DefaultSelectors(found.selecting, spreading) if spreading else None
    read_keys = _read_keys(found, pods, waiting, defaults)
    ledger.hold_all(
        [
            standing_holding(
                pod,
                row,
                shares=shares_of(ledger, pod, row, families, problems),
                presence=None if read_keys is None else standing(pod, read_keys),
                charges=charges_of(pod, families, quotas=ledger.quotas),
            )
            for pod, place in placed
            if (row := ledger.rows.get(place)) is not None
        ]
    )
    for pod, place in placed:
        if place not in ledger.rows:
            ledger.quotas.stand(pod.namespace, charges_of(pod, families, quotas=ledger.quotas))
    beyond = beyond_quota(pods[len(found.pods) :], families, quotas=ledger.quotas)
    denied.extend(beyond.values())
    pods = [pod for pod in pods if pod.uid not in beyond]
    waiting = [pod for pod in waiting if pod.uid not in beyond]
    apart = [each for each in apart if each[0].uid not in beyond]
    together = gathered(pods, found.pod_groups, placed=placed, waiting=waiting)
    problems.extend(together.problems)
    pods_on: dict[str, list[Pod]] = defaultdict(list)
    for pod, place in placed:
        pods_on[place].append(pod)
    slices_on = slices_by_node(found.device_objects.slices.values())
    fleet = Fleet(
        devices=found.device_objects,
        slices_on=slices_on,
        registered=registered,
        pods_on=pods_on,
        daemons=daemon_sets(found.daemon_sets, pods),
        profiles=usable(found.profiles, families, problems),
        families=tuple(families),
    )
    return Picture(
        ledger=ledger,
        groups=sized_groups(found, fleet, problems),
        waiting=tuple(waiting),
        gangs=together.gangs,
        apart=tuple(apart),
        denied=tuple(denied),
        problems=tuple(_placed(problem, found.sources) for problem in problems),
        read_keys=read_keys,
        defaults=defaults,
        evictable=Evictable(residents=_residents(placed, ledger.rows), budgets=found.budgets),
    )


def _residents(placed: Iterable[tuple[Pod, str]], rows: Mapping[str, int]) -> Residents:
    """Return the pods that are on their nodes; those that are only nominated are not."""
    return Residents(
        (rows[place], pod)
        for pod, place in placed
        if place in rows and (pod.node_name or pod.nominated_node != place)
    )


def _read_keys(
    found: Input, pods: Sequence[Pod], waiting: Sequence[Pod], defaults: DefaultSelectors | None
) -> frozenset[str] | None:
    """Return which labels rules between pods read, None if there are no such rules."""
    selectors = () if defaults is None else filter(None, map(defaults.of, waiting))
    specs = [*(pod.spec for pod in pods), *(each.spec for each in found.daemon_sets)]
    return keys_read(specs, selectors)


def _placed(problem: Problem, sources: Mapping[str, str]) -> Problem:
    """Return the problem with the file that its object stands in."""
    return replace(problem, source=sources.get(problem.object, problem.source))
