"""Which node group would take the pod on one more node, and why the others would not."""

import math
from collections.abc import Iterator, Sequence

import msgspec

from springtide.base.clock import Clock
from springtide.engine.capacity.batches import Batch
from springtide.engine.capacity.estimate import estimate
from springtide.engine.capacity.limits import Limiter, Threshold
from springtide.engine.capacity.situation import SizedGroup
from springtide.engine.capacity.start import Start, begin_all
from springtide.engine.explain.changes import Change, ChangeKind
from springtide.engine.placement.classes import PodClass
from springtide.engine.placement.tables import Tables
from springtide.engine.simulation.templates import Template
from springtide.model.overlay import Overlay
from springtide.model.pod import Pod
from springtide.model.refusal import Refusal

LIMIT = Refusal(rule="limit", reasons=("max node group size reached",), is_unresolvable=True)


class GroupAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What one more node of a group says: a refusal, or None if it takes the pod.

    `start` stands for such a node, None where nobody knows what it would be.
    """

    group: SizedGroup
    refusal: Refusal | None
    start: Start | None = None

    @property
    def may_grow(self) -> bool:
        """Return whether one more node can be had."""
        return self.start is not None and self.group.size < self.group.group.max_size


def grown(
    pod: Pod,
    pod_class: PodClass,
    groups: Sequence[SizedGroup],
    *,
    tables: Tables,
    overlay: Overlay,
    clock: Clock,
) -> list[GroupAnswer]:
    """Return what every group says to a pod that fits no node that is there."""
    templates = [each.template for each in groups if isinstance(each.template, Template)]
    starts = {
        start.template.group.name: start
        for start in begin_all(templates, tables, overlay, [pod_class])
    }
    batch = Batch(pod_class, (pod,))
    answers = []
    for each in groups:
        start = starts.get(each.group.name)
        if start is None:
            assert isinstance(each.template, Refusal)
            answers.append(GroupAnswer(group=each, refusal=each.template))
        else:
            refusal = _answer(each, start, batch, overlay=overlay, clock=clock)
            answers.append(GroupAnswer(group=each, refusal=refusal, start=start))
    return answers


def _answer(
    item: SizedGroup, start: Start, batch: Batch, *, overlay: Overlay, clock: Clock
) -> Refusal | None:
    refusal = start.verdicts[batch.pod_class]
    if refusal is not None:
        return refusal
    if item.size >= item.group.max_size:
        return LIMIT
    with overlay.trial():
        found = estimate([batch], start, Limiter([Threshold(nodes=1)], clock))
    return None if found.placed else Refusal(rule="limit", reasons=("one node is not enough",))


def name_of_new(group: str) -> str:
    """Return what a node that a group does not have yet is called."""
    return f"a new node of {group}"


def added(answers: Sequence[GroupAnswer]) -> dict[int, str]:
    """Add one more node of every group that may grow to the overlay; return their rows with names."""
    return {
        each.start.add(each.start.template.node.name): name_of_new(each.group.group.name)
        for each in answers
        if each.may_grow and each.start is not None
    }


def additions(answers: Sequence[GroupAnswer]) -> Iterator[Change]:
    """Yield a change for every group of which one more node takes the pod, the cheapest first."""
    for answer in sorted(answers, key=_price):
        if answer.refusal is None:
            yield _addition(answer.group)


def _price(answer: GroupAnswer) -> float:
    """Return what a node of the group costs; those without a price come last."""
    price = answer.group.group.price
    return math.inf if price is None else price


def _addition(item: SizedGroup) -> Change:
    group = item.group
    count = group.max_size - item.size if group.is_zero_or_max else 1
    after = item.size + count
    what = "1 more node" if count == 1 else f"all {count} nodes, as it has none or all of them,"
    return Change(
        kind=ChangeKind.ADD_NODE,
        text=f"add {what} to group {group.name} ({item.size} → {after})",
        subject=group.name,
        before=str(item.size),
        after=str(after),
        node=name_of_new(group.name),
        size=float(count),
    )
