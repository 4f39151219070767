"""Why a pod has no node: what all nodes say, and the changes that would help, the smallest first."""

from collections.abc import Iterator, Sequence

import msgspec
from msgspec.structs import replace

from springtide.base.clock import Clock
from springtide.engine.capacity.situation import SizedGroup
from springtide.engine.explain.changes import Change, ChangeKind, smallest_first
from springtide.engine.explain.dropping import dropped
from springtide.engine.explain.freeing import freed
from springtide.engine.explain.growing import GroupAnswer, added, additions, grown
from springtide.engine.explain.lessening import less
from springtide.engine.explain.numbers import device_sentence
from springtide.engine.explain.raising import raised
from springtide.engine.explain.rules import rule_sentence
from springtide.engine.explain.tolerating import tolerated
from springtide.engine.explain.trial import Trial
from springtide.engine.explain.verdicts import cells_of, settled
from springtide.engine.framework.dynamic_resources import DynamicResources
from springtide.engine.placement.beyond_quota import with_numbers
from springtide.engine.placement.classes import Classifier, PodClass
from springtide.engine.placement.tables import Tables
from springtide.engine.preemption import Evictable
from springtide.model.overlay import Overlay
from springtide.model.pod import Pod
from springtide.model.refusal import Refusal


class Scene(msgspec.Struct, frozen=True, kw_only=True):
    """What a pod is held against. The overlay is used for trials, and is as it was afterwards."""

    tables: Tables
    classifier: Classifier
    overlay: Overlay
    evictable: Evictable
    groups: Sequence[SizedGroup]
    clock: Clock


class Alike(msgspec.Struct, frozen=True, kw_only=True):
    """Rows that say the same: a refusal in the field's words and a sentence, or that the pod fits."""

    rows: tuple[int, ...]
    refusal: Refusal | None
    sentence: str = ""


class Explained(msgspec.Struct, frozen=True, kw_only=True):
    """The answer for one pod: rows by what they say, groups by what they say, and changes."""

    pod_class: PodClass
    verdicts: tuple[Alike, ...]
    groups: tuple[GroupAnswer, ...] = ()
    changes: tuple[Change, ...] = ()

    @property
    def fits(self) -> bool:
        """Return whether any row takes the pod."""
        return any(each.refusal is None for each in self.verdicts)


def explain(pod: Pod, scene: Scene) -> Explained:
    """Return why the pod fits or does not; gates are not looked at but as what could be lifted."""
    tables, pod_class = scene.tables, scene.classifier.classify(pod)
    fitting = settled(tables, pod_class).tolist()
    refused = tables.refusals(pod_class, below=tables.ledger.count)
    verdicts = [Alike(rows=tuple(fitting), refusal=None)] if fitting else []
    verdicts += [
        Alike(
            rows=tuple(rows),
            refusal=refusal,
            sentence=sentence(pod, pod_class, refusal, rows, tables=tables),
        )
        for refusal, rows in sorted(refused.items(), key=lambda item: -len(item[1]))
    ]
    found = Explained(pod_class=pod_class, verdicts=tuple(verdicts))
    if fitting:
        return replace(found, changes=tuple(_gates(pod, tables.ledger.names[fitting[0]])))
    if pod_class.refusal is not None:
        return found
    answers = grown(
        pod,
        pod_class,
        scene.groups,
        tables=tables,
        overlay=scene.overlay,
        clock=scene.clock,
    )
    changes = list(_changes(pod, pod_class, answers, scene))
    return replace(found, groups=tuple(answers), changes=smallest_first(changes))


def sentence(
    pod: Pod, pod_class: PodClass, refusal: Refusal, rows: Sequence[int], *, tables: Tables
) -> str:
    """Return what these rows, which refuse in the same words, lack."""
    if refusal == pod_class.refusal:
        return refusal.detail
    if refusal.rule == DynamicResources.name:
        return tables.claims_shortfall(pod_class, rows[0])
    family = tables.families.get(refusal.rule)
    if family is None:
        return rule_sentence(pod_class, refusal, tables.ledger, rows) or refusal.detail
    cells = cells_of(tables, pod_class, refusal.rule, rows)
    told = device_sentence(refusal, cells, family.wishes(pod)) or refusal.detail
    return with_numbers(told, refusal, pod_class=pod_class, tables=tables)


def _gates(pod: Pod, node: str) -> Iterator[Change]:
    gates = " ".join(pod.spec.scheduling_gates)
    if gates:
        yield Change(
            kind=ChangeKind.LIFT_GATES,
            text=f"remove the scheduling gates {gates}",
            subject=gates,
            before=gates,
            node=node,
            pod=replace(pod, spec=replace(pod.spec, scheduling_gates=())),
        )


def _changes(
    pod: Pod, pod_class: PodClass, answers: Sequence[GroupAnswer], scene: Scene
) -> Iterator[Change]:
    yield from _of_pod(pod, Trial(scene.tables, scene.classifier))
    yield from freed(pod, pod_class, scene.tables, overlay=scene.overlay, evictable=scene.evictable)
    yield from additions(answers)
    if all(each.refusal is not None for each in answers):
        yield from _on_new_nodes(pod, answers, scene)


def _of_pod(pod: Pod, trial: Trial) -> Iterator[Change]:
    """Yield the changes of the pod itself, of what its nodes are tainted with, and of its quota."""
    yield from tolerated(pod, trial)
    yield from dropped(pod, trial)
    yield from less(pod, trial)
    yield from raised(pod, trial)


def _on_new_nodes(pod: Pod, answers: Sequence[GroupAnswer], scene: Scene) -> list[Change]:
    """Return the changes with which a new node takes a pod that none takes as it is."""
    with scene.overlay.trial():
        new = added(answers)
        if not new:
            return []
        changes = _of_pod(pod, Trial(scene.tables, scene.classifier, new))
        return [each for each in changes if each.node in new.values()]
