"""A whole scheduling attempt, one node at a time, from lists of pods: as slow and as plain as the rules read.

Every question is put to the plain filters anew, with exactly the pods that are there at that moment.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec
from msgspec.structs import replace

from springtide.base.selectors import compile_selector
from springtide.engine.framework.framework import FrameworkConfig
from springtide.model.disruption import DisruptionBudget
from springtide.model.node import Node
from springtide.model.pod import Pod
from tests.reference import framework

Status = framework.Status
NO_VICTIMS = "No preemption victims found for incoming pod"
NO_HELP = "Preemption is not helpful for scheduling"
LATE = "9999"


class Cluster(msgspec.Struct, frozen=True, kw_only=True):
    """Nodes, the pods on them, pods that are nominated to one, and budgets."""

    nodes: Sequence[Node]
    running: Sequence[Pod]
    nominated: Sequence[Pod] = ()
    budgets: Sequence[DisruptionBudget] = ()
    config: FrameworkConfig = FrameworkConfig()


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """Whom a node would lose, and how many of them break a budget."""

    node: str
    victims: list[Pod]
    broken: int


def statuses(pod: Pod, cluster: Cluster) -> dict[str, Status | None]:
    """Return what each node says, nominated pods considered."""
    return {node.name: _status(pod, node, cluster, cluster.running) for node in cluster.nodes}


def preemption(pod: Pod, cluster: Cluster) -> tuple[str, Candidate | None]:
    """Return what preemption says of a pod that fits nowhere, all nodes tried."""
    if not pod.spec.may_preempt:
        return "not eligible due to preemptionPolicy=Never.", None
    if _waits(pod, cluster):
        return "not eligible due to a terminating pod on the nominated node.", None
    told = statuses(pod, cluster)
    worth = [node for node in cluster.nodes if (status := told[node.name]) and not status[1]]
    answers = {node.name: _dry_run(pod, node, cluster) for node in worth}
    candidates = [each for each in answers.values() if isinstance(each, Candidate)]
    if candidates:
        chosen = _best(candidates)
        where, count = chosen.node, len(chosen.victims)
        told_of = f"found a potential placement for pod on node {where}, preempting {count} victims"
        return told_of, chosen
    counts: Counter[str] = Counter()
    for node in cluster.nodes:
        answer = answers.get(node.name, (NO_HELP,))
        assert not isinstance(answer, Candidate)
        counts.update(answer)
    parts = sorted(f"{count} {reason}" for reason, count in counts.items())
    total = len(cluster.nodes)
    return f"0/{total} nodes are available: {', '.join(parts)}.", None


def _status(pod: Pod, node: Node, cluster: Cluster, running: Sequence[Pod]) -> Status | None:
    coming = [
        replace(each, node_name=node.name)
        for each in cluster.nominated
        if each.nominated_node == node.name
        and each.spec.priority >= pod.spec.priority
        and each.uid != pod.uid
    ]
    with_them = _filtered(pod, node, cluster, [*running, *coming])
    return with_them or _filtered(pod, node, cluster, running)


def _filtered(pod: Pod, node: Node, cluster: Cluster, running: Sequence[Pod]) -> Status | None:
    return framework.verdicts(pod, cluster.nodes, running, cluster.config)[node.name]


def _waits(pod: Pod, cluster: Cluster) -> bool:
    told = statuses(pod, cluster)
    if pod.nominated_node not in told:
        return False
    status = told[pod.nominated_node]
    if status is not None and status[1]:
        return False
    return any(
        each.is_preempted and each.spec.priority < pod.spec.priority
        for each in cluster.running
        if each.node_name == pod.nominated_node
    )


def _dry_run(pod: Pod, node: Node, cluster: Cluster) -> Candidate | tuple[str, ...]:
    """Return the candidate that the node is, or the reasons why it is none."""
    lower = [
        each
        for each in cluster.running
        if each.node_name == node.name and each.spec.priority < pod.spec.priority
    ]
    if not lower:
        return (NO_VICTIMS,)
    there = [each for each in cluster.running if each not in lower]
    status = _status(pod, node, cluster, there)
    if status is not None:
        return status[2]
    lower.sort(key=_importance)
    protected = _protected(lower, cluster.budgets)
    order = [each for each in lower if each in protected]
    order += [each for each in lower if each not in protected]
    victims = []
    for each in order:
        if _status(pod, node, cluster, [*there, each]) is None:
            there.append(each)
        else:
            victims.append(each)
    broken = sum(each in protected for each in victims)
    return Candidate(node=node.name, victims=sorted(victims, key=_importance), broken=broken)


def _importance(pod: Pod) -> tuple[int, str]:
    return -pod.spec.priority, pod.started or LATE


def _protected(pods: Iterable[Pod], budgets: Sequence[DisruptionBudget]) -> list[Pod]:
    allowed = {budget.key: budget.allowed for budget in budgets}
    found = []
    for pod in pods:
        mine = [budget for budget in budgets if _is_about(budget, pod)]
        for budget in mine:
            allowed[budget.key] -= 1
        if any(allowed[budget.key] < 0 for budget in mine):
            found.append(pod)
    return found


def _is_about(budget: DisruptionBudget, pod: Pod) -> bool:
    selector = compile_selector(budget.selector)
    return (
        bool(pod.labels)
        and not selector.is_empty
        and selector.matches(pod.labels)
        and pod.namespace == budget.namespace
        and pod.name not in budget.going
    )


def _best(candidates: Sequence[Candidate]) -> Candidate:
    def pain(each: Candidate) -> tuple[int, int, int, int]:
        priorities = [pod.spec.priority for pod in each.victims]
        return each.broken, max(priorities), sum(p + 2**31 for p in priorities), len(priorities)

    least = min(map(pain, candidates))
    left = [each for each in candidates if pain(each) == least]
    latest = max(map(_eldest, left))
    return next(each for each in left if _eldest(each) == latest)


def _eldest(candidate: Candidate) -> str:
    highest = max(pod.spec.priority for pod in candidate.victims)
    return min(pod.started or LATE for pod in candidate.victims if pod.spec.priority == highest)
