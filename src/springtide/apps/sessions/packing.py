"""Pods put onto new nodes of one template, and what is told of it.

Templates whose nodes are filled alike, as those of one machine in several zones, are packed once.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from springtide.engine.capacity.batches import Batch
from springtide.engine.capacity.estimate import Estimate, NewNode, estimate, tells_nodes_apart
from springtide.engine.capacity.limits import Limiter
from springtide.engine.capacity.start import Start
from springtide.model.device import nameless
from springtide.model.pod import Pod
from springtide.model.refusal import Refusal
from springtide.wire.simulation.answers import GroupShare, LeftOver, NodeLoad, TemplateEstimate


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """The pods of a call in batches of equal ones, and which group each of them is of."""

    batches: tuple[Batch, ...]
    groups: Mapping[int, int]


class Packed(msgspec.Struct, frozen=True):
    """An estimate, and what its nodes carry."""

    answer: Estimate
    loads: tuple[NodeLoad, ...]


def likeness(start: Start, question: Question) -> object:
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
    )


def pack(start: Start, question: Question, limiter: Limiter) -> Packed:
    """Put the pods onto new nodes of a template, as many as it takes and is permitted."""
    taken = [each for each in question.batches if start.verdicts[each.pod_class] is None]
    with start.overlay.trial():
        answer = estimate(taken, start, limiter)
    return Packed(answer, _loads(answer.nodes, question))


def told(start: Start, question: Question, packed: Packed, *, why: str) -> TemplateEstimate:
    """Return what is answered of a template; `why` keeps it from having further nodes, if anything."""
    answer = packed.answer
    left = [
        left_over
        for batch in question.batches
        if (refusal := start.verdicts[batch.pod_class]) is not None
        for left_over in _left(
            batch.pods, question, _said(refusal), unresolvable=refusal.is_unresolvable
        )
    ]
    left += _left(answer.left, question, why, unresolvable=False)
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
    pods: Sequence[Pod], question: Question, reason: str, *, unresolvable: bool
) -> list[LeftOver]:
    counts = Counter([question.groups[id(pod)] for pod in pods])
    return [
        LeftOver(group=group, pods=count, reason=reason, unresolvable=unresolvable)
        for group, count in counts.items()
    ]


def _loads(nodes: Sequence[NewNode], question: Question) -> tuple[NodeLoad, ...]:
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
