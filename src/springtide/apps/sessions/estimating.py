"""`/v1/estimate`: how many nodes of each template pods need, by the estimator of the autoscaler.

Templates are asked each by itself, as an autoscaler compares its groups. An estimate begins with new nodes:
a template may carry pods that every node of its group will run, but none that hold devices.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from springtide.apps.sessions.reading import Reading
from springtide.apps.sessions.rules import Rules
from springtide.base.clock import Clock
from springtide.engine.capacity.batches import Batch
from springtide.engine.capacity.estimate import Estimate, NewNode, estimate, tells_nodes_apart
from springtide.engine.capacity.limits import Limiter, Threshold
from springtide.engine.capacity.start import Start, begin_all
from springtide.engine.framework.ask import keys_read
from springtide.engine.framework.framework import Framework, FrameworkConfig
from springtide.engine.placement.classes import Classifier, PodClass
from springtide.engine.placement.tables import Tables
from springtide.engine.simulation.errors import Contradiction, TooLarge
from springtide.engine.simulation.judge import DEVICES_ALONE
from springtide.engine.simulation.sanitise import mirrored, sanitised
from springtide.engine.simulation.templates import Source, Template
from springtide.model.device import Inventory, nameless
from springtide.model.group import NodeGroup
from springtide.model.ledger import Ledger
from springtide.model.node import Node
from springtide.model.overlay import Overlay
from springtide.model.pod import Pod
from springtide.model.refusal import Refusal
from springtide.wire.errors import MalformedObject
from springtide.wire.extender.members import UNREADABLE
from springtide.wire.k8s import decode_node
from springtide.wire.simulation import MalformedCall, calls
from springtide.wire.simulation.answers import (
    EstimateAnswer,
    GroupShare,
    LeftOver,
    NodeLoad,
    TemplateEstimate,
)
from springtide.wire.simulation.calls import DynamicFields, EstimateRules

SEARCH_S_MAX: Final = 10.0
LIMITED: Final = "no further node is permitted"


class _Question(msgspec.Struct, frozen=True, kw_only=True):
    """The pods of a call in batches of equal ones, and which group each of them is of."""

    batches: tuple[Batch, ...]
    groups: Mapping[int, int]


def estimated(call: calls.Estimate, rules: Rules, reading: Reading, clock: Clock) -> EstimateAnswer:
    """Return what the pods of a call need of each of its templates."""
    templates = _templates(call, rules, reading)
    pods = reading.pods([each.pod for each in call.pods], "pods[{}].pod")
    _must_be_few(call, rules)
    tables = Tables(
        Ledger(), _framework(call.rules, rules), rules.families, policies=rules.judge.policies
    )
    question = _question(call, pods, rules)
    overlay = Overlay(tables.ledger)
    starts = begin_all(templates, tables, overlay, [each.pod_class for each in question.batches])
    packings: dict[object, _Packed] = {}
    estimates = []
    for entry, start in zip(call.templates, starts, strict=True):
        key = _likeness(start, question, entry)
        packed = packings.get(key)
        if packed is None:
            limiter = Limiter(_thresholds(call, entry, rules), clock)
            packed = packings[key] = _packed(start, question, limiter)
        estimates.append(_told(start, question, packed))
    nowhere = [
        group
        for batch in question.batches
        if all(start.verdicts[batch.pod_class] is not None for start in starts)
        for group in dict.fromkeys(question.groups[id(pod)] for pod in batch.pods)
    ]
    return EstimateAnswer(estimates=tuple(estimates), nowhere=tuple(sorted(nowhere)))


def _framework(scope: EstimateRules, rules: Rules) -> Framework:
    if scope is EstimateRules.DEVICES:
        return Framework(DEVICES_ALONE)
    managed = (name for family in rules.families.values() for name in family.resource_names())
    return Framework(FrameworkConfig(ignored_resources=frozenset(managed)))


def _must_be_few(call: calls.Estimate, rules: Rules) -> None:
    bounds = rules.bounds
    for count, most, what in (
        (len(call.templates), bounds.estimate_templates_max, "templates"),
        (sum(each.count for each in call.pods), bounds.estimate_pods_max, "pods"),
    ):
        if count > most:
            raise TooLarge(f"the call has {count} {what}, and {most} are the most; ask in parts")


# Templates


def _templates(call: calls.Estimate, rules: Rules, reading: Reading) -> list[Template]:
    sight = rules.sight(keeps_dynamic=call.dynamic_fields is DynamicFields.KEEP)
    made: list[Template] = []
    for place, entry in enumerate(call.templates):
        where = f"templates[{place}].node"
        node = _node(entry, where, reading)
        seen = sight.seen(node)
        if seen.standing.shut or any(each.fit.shares for each in seen.standing.held):
            raise Contradiction(
                f"{where}: pods stand on it that hold devices, and an estimate begins with new nodes; "
                "take them off, or ask a session"
            )
        found = seen.supply.found
        name = entry.name or node.name
        made.append(
            Template(
                group=NodeGroup(name=name, max_size=entry.nodes_max),
                node=sanitised(node, f"template-node-for-{name}"),
                source=Source.INPUT,
                inventories=tuple(
                    (key, each) for key, each in found if isinstance(each, Inventory)
                ),
                refusals=tuple((key, each) for key, each in found if isinstance(each, Refusal)),
                pods=tuple(each.pod for each in seen.standing.held),
            )
        )
    _must_differ([each.group.name for each in made])
    return made


def _node(entry: calls.EstimateTemplate, where: str, reading: Reading) -> Node:
    try:
        node = decode_node(entry.node, reading.parts())
    except (MalformedObject, *UNREADABLE) as fault:
        raise MalformedCall(f"{where} cannot be read: {fault}") from fault
    return msgspec.structs.replace(node, labels=mirrored(node.labels))


def _must_differ(names: Sequence[str]) -> None:
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise Contradiction(f"templates: two have the name {twice[0]}; names must be unique")


# Pods


def _question(call: calls.Estimate, pods: Sequence[Pod], rules: Rules) -> _Question:
    """Return the pods of all groups, in batches of those that are equal."""
    if call.rules is EstimateRules.DEVICES:
        class_of = rules.judge.class_of
    else:
        keys = keys_read(pod.spec for pod in pods)
        class_of = Classifier(rules.families, keys=keys).found
    members: dict[PodClass, list[Pod]] = {}
    groups: dict[int, int] = {}
    for place, (entry, first) in enumerate(zip(call.pods, pods, strict=True)):
        copies = _copies(first, entry.count, place)
        members.setdefault(class_of(first), []).extend(copies)
        groups |= dict.fromkeys(map(id, copies), place)
    batches = tuple(Batch(pod_class, tuple(own)) for pod_class, own in members.items())
    return _Question(batches=batches, groups=groups)


def _copies(pod: Pod, count: int, group: int) -> list[Pod]:
    """Return so many pods that are told apart by their uids alone."""
    key, name, spec = pod.namespace, pod.name, pod.spec
    return [
        Pod(
            namespace=key,
            name=name,
            uid=f"{group}/{number}",
            spec=spec,
            labels=pod.labels,
            annotations=pod.annotations,
        )
        for number in range(count)
    ]


# Answers


def _thresholds(
    call: calls.Estimate, entry: calls.EstimateTemplate, rules: Rules
) -> tuple[Threshold, ...]:
    return (
        Threshold(rules.bounds.estimate_nodes_max, SEARCH_S_MAX),
        Threshold(call.nodes_max),
        Threshold(entry.nodes_max),
    )


class _Packed(msgspec.Struct, frozen=True):
    """An estimate, and what its nodes carry."""

    answer: Estimate
    loads: tuple[NodeLoad, ...]


def _likeness(start: Start, question: _Question, entry: calls.EstimateTemplate) -> object:
    """Return what templates have in common whose nodes are filled alike, whatever they are called."""
    template = start.template
    if any(tells_nodes_apart(each.pod_class) for each in question.batches):
        return template.group.name
    return (
        template.node.allocatable,
        template.node.is_unschedulable,
        tuple((family, nameless(each)) for family, each in template.inventories),
        tuple(pod.spec for pod in template.pods),
        tuple(start.verdicts[each.pod_class] is None for each in question.batches),
        entry.nodes_max,
    )


def _packed(start: Start, question: _Question, limiter: Limiter) -> _Packed:
    taken = [each for each in question.batches if start.verdicts[each.pod_class] is None]
    with start.overlay.trial():
        answer = estimate(taken, start, limiter)
    return _Packed(answer, _loads(answer.nodes, question))


def _told(start: Start, question: _Question, packed: _Packed) -> TemplateEstimate:
    answer = packed.answer
    left = [
        left_over
        for batch in question.batches
        if (refusal := start.verdicts[batch.pod_class]) is not None
        for left_over in _left(
            batch.pods, question, _said(refusal), unresolvable=refusal.is_unresolvable
        )
    ]
    left += _left(answer.left, question, LIMITED, unresolvable=False)
    return TemplateEstimate(
        template=start.template.group.name,
        nodes=answer.node_count,
        pods=len(answer.placed),
        loads=packed.loads,
        left=tuple(sorted(left, key=lambda each: each.group)),
        limited=answer.is_limited,
    )


def _said(refusal: Refusal) -> str:
    return f"{refusal.text}: {refusal.detail}" if refusal.detail else refusal.text


def _left(
    pods: Sequence[Pod], question: _Question, reason: str, *, unresolvable: bool
) -> list[LeftOver]:
    counts = Counter([question.groups[id(pod)] for pod in pods])
    return [
        LeftOver(group=group, pods=count, reason=reason, unresolvable=unresolvable)
        for group, count in counts.items()
    ]


def _loads(nodes: Sequence[NewNode], question: _Question) -> tuple[NodeLoad, ...]:
    """Return the nodes with equal pods together, as long as they follow each other."""
    groups = question.groups
    loads: list[tuple[tuple[tuple[int, int], ...], int]] = []
    for node in nodes:
        shares = tuple(sorted(Counter([groups[id(pod)] for pod in node.pods]).items()))
        if loads and loads[-1][0] == shares:
            loads[-1] = shares, loads[-1][1] + 1
        else:
            loads.append((shares, 1))
    return tuple(
        NodeLoad(nodes=count, pods=tuple(GroupShare(group=each, pods=n) for each, n in shares))
        for shares, count in loads
    )
