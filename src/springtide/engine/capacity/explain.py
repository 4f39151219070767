"""Why a plan does not help: what every group says to pods that are left over, and which is closest.

A group is the closer to taking a pod the fewer things would have to change: first groups that would
do but may not grow, then those whose devices fall short or to which only a scheduler extender
objects, then those whose cpu or memory does or where other pods are in the way, then those of which
nothing is known, and last those that the pod itself keeps away from.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from springtide.engine.capacity.batches import Batch
from springtide.engine.placement import extenders
from springtide.engine.placement.classes import PodClass
from springtide.engine.placement.quota import Shortage
from springtide.engine.simulation.templates import Template
from springtide.model.pod import Pod
from springtide.model.refusal import Refusal

LIMIT: Final = "limit"
"""The rule of a refusal that only keeps a group from growing."""


class GroupAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What one group says to a class: why a new node refuses it, or None if only `limit` does."""

    name: str
    template: Template | Refusal
    refusal: Refusal | None
    limit: Refusal


class Stuck(msgspec.Struct, frozen=True, kw_only=True):
    """Pods of one class that the plan does not help.

    `on_nodes` counts the refusals of existing nodes and `message` is what kube-scheduler says about
    these nodes, `on_groups` has each group's refusal, and `closest` names the group that comes
    nearest to taking them. `shortages` is what their namespace's quota lacks where nothing else is in the way.
    """

    pods: tuple[Pod, ...]
    pod_class: PodClass
    on_nodes: tuple[tuple[Refusal, int], ...]
    message: str
    on_groups: tuple[tuple[str, Refusal], ...]
    closest: str
    shortages: tuple[Shortage, ...] = ()


Objections = tuple[tuple[str, tuple[tuple[Refusal, int], ...]], ...]


def stuck(
    batch: Batch,
    answers: Sequence[GroupAnswer],
    on_nodes: Sequence[tuple[Refusal, int]],
    *,
    message: str,
    shortages: tuple[Shortage, ...] = (),
) -> Stuck:
    """Return why these pods are left over."""
    nearest = min(answers, key=lambda answer: _distance(answer, batch.pod_class), default=None)
    return Stuck(
        pods=batch.pods,
        pod_class=batch.pod_class,
        on_nodes=tuple(on_nodes),
        message=message,
        on_groups=tuple((answer.name, answer.refusal or answer.limit) for answer in answers),
        closest="" if nearest is None else nearest.name,
        shortages=shortages,
    )


def objections(asked: Sequence[tuple[Batch, Sequence[GroupAnswer]]]) -> Objections:
    """Return for every group which refusals it has, with the number of pods that each concerns."""
    counts: dict[str, dict[Refusal, int]] = {}
    for batch, answers in asked:
        for answer in answers:
            mine = counts.setdefault(answer.name, {})
            if answer.refusal is not None:
                mine[answer.refusal] = mine.get(answer.refusal, 0) + len(batch.pods)
    return tuple(
        (name, tuple(sorted(mine.items(), key=lambda entry: -entry[1])))
        for name, mine in counts.items()
    )


def _distance(answer: GroupAnswer, pod_class: PodClass) -> tuple[int, int]:
    """Return how far the group is from taking the class; the group with the larger cards is nearer."""
    families = {ask.family for ask in pod_class.asks}
    largest = _largest_device(answer.template, families)
    return _rank(answer, families, has_devices=largest > 0), -largest


def _rank(answer: GroupAnswer, families: set[str], *, has_devices: bool) -> int:
    if answer.refusal is None:
        return 0
    rule = answer.refusal.rule
    if rule in families:
        return 1 if has_devices else 3
    if rule in {extenders.RULE, extenders.FAILURE}:
        return 1
    if rule in {"profile", "template"}:
        return 3
    is_changeable = rule == "NodeResourcesFit" or not answer.refusal.is_unresolvable
    return 2 if is_changeable else 4


def _largest_device(template: Template | Refusal, families: set[str]) -> int:
    if isinstance(template, Refusal):
        return 0
    sizes = (
        device.memory_mib
        for family, inventory in template.inventories
        if family in families
        for device in inventory.devices
    )
    return max(sizes, default=0)
