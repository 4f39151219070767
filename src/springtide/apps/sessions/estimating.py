"""`/v1/estimate`: how many nodes of each template pods need, by the estimator of the autoscaler.

Templates are asked each by itself, as an autoscaler compares its groups. An estimate begins with new nodes:
a template may carry pods that every node of its group will run, but none that hold devices.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final

import msgspec

from springtide.apps.sessions.packing import Packed, Question, likeness, pack, told
from springtide.apps.sessions.reading import Reading
from springtide.apps.sessions.rules import Rules
from springtide.base.clock import Clock
from springtide.engine.capacity.batches import Batch
from springtide.engine.capacity.limits import Limiter, Threshold
from springtide.engine.capacity.start import begin_all
from springtide.engine.framework.ask import keys_read
from springtide.engine.framework.framework import Framework, FrameworkConfig
from springtide.engine.placement.classes import Classifier, PodClass
from springtide.engine.placement.tables import Tables
from springtide.engine.simulation.errors import Contradiction, TooLarge
from springtide.engine.simulation.judge import DEVICES_ALONE
from springtide.engine.simulation.sanitise import mirrored, sanitised
from springtide.engine.simulation.templates import Source, Template
from springtide.model.device import Inventory
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
from springtide.wire.simulation.answers import EstimateAnswer
from springtide.wire.simulation.calls import DynamicFields, EstimateRules

LIMITED: Final = "no further node is permitted"
LATE: Final = "the time for the estimate is over; ask about fewer templates at once"


def estimated(call: calls.Estimate, rules: Rules, reading: Reading, clock: Clock) -> EstimateAnswer:
    """Return what the pods of a call need of each of its templates."""
    ends_s = clock.monotonic_s() + rules.bounds.estimate_s_max
    _must_be_few(call, rules)
    templates = _templates(call, rules, reading)
    pods = reading.pods([each.pod for each in call.pods], "pods[{}].pod")
    tables = Tables(
        Ledger(), _framework(call.rules, rules), rules.families, policies=rules.judge.policies
    )
    question = _question(call, pods, rules)
    overlay = Overlay(tables.ledger)
    starts = begin_all(templates, tables, overlay, [each.pod_class for each in question.batches])
    packings: dict[object, Packed] = {}
    estimates = []
    for entry, start in zip(call.templates, starts, strict=True):
        key = likeness(start, question), entry.nodes_max
        packed = packings.get(key)
        if packed is None:
            thresholds = _thresholds(call, entry, rules, left_s=ends_s - clock.monotonic_s())
            packed = packings[key] = pack(start, question, Limiter(thresholds, clock))
        why = LIMITED if clock.monotonic_s() < ends_s else LATE
        estimates.append(told(start, question, packed, why=why))
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
    bounds, pods = rules.bounds, sum(each.count for each in call.pods)
    for count, most, what in (
        (len(call.templates), bounds.estimate_templates_max, "templates"),
        (pods, bounds.estimate_pods_max, "pods"),
        (pods * len(call.templates), bounds.estimate_weighed_max, "pods by templates"),
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


def _question(call: calls.Estimate, pods: Sequence[Pod], rules: Rules) -> Question:
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
    return Question(batches=batches, groups=groups)


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
    call: calls.Estimate, entry: calls.EstimateTemplate, rules: Rules, *, left_s: float
) -> tuple[Threshold, ...]:
    return (
        # No time at all would be no bound.
        Threshold(rules.bounds.estimate_nodes_max, left_s or -1.0),
        Threshold(call.nodes_max),
        Threshold(entry.nodes_max),
    )
