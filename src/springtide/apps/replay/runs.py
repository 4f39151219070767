"""One run: the pods of a script under one policy, or as they are recorded, and what it comes to."""

from collections.abc import Sequence

import msgspec

from springtide.apps.headroom.report import LimitReport
from springtide.apps.planner.onlooker import Onlooker
from springtide.apps.planner.stage import Stage
from springtide.apps.replay.policies import RECORDED
from springtide.apps.replay.reasons import Limits, Reasons
from springtide.base.telling import Level
from springtide.engine.replay import (
    DevicesUse,
    Fate,
    Fragments,
    Turn,
    fate,
    fragments,
    placed_in_turn,
    rows_in_use,
    shapes,
    usage,
)
from springtide.model.pod import Pod

WAITS = "waits for a node"
PROGRESS_EVERY = 100


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """What became of every pod that came, by its place, and what the cluster holds in the end.

    `limits` are the reasons for pods that no node took. `names` are those of the rows, and `used`
    are the rows on which any of the pods is in the end.
    """

    name: str
    names: Sequence[str]
    fates: tuple[Fate, ...]
    limits: dict[int, Limits]
    used: frozenset[int]
    devices: tuple[DevicesUse, ...]
    fragments: tuple[Fragments, ...]


class Cast(msgspec.Struct, frozen=True, kw_only=True):
    """Who comes, as a stage has them, and in which order they come and go."""

    pods: tuple[Pod, ...]
    order: tuple[Turn, ...]


def under(name: str, cast: Cast, stage: Stage, onlooker: Onlooker) -> Run:
    """Return the run of a policy on its stage, which holds the pods afterwards."""
    onlooker.progress.begin(f"Replaying under {name}")
    reasons = Reasons(stage.tables)
    fates = [Fate()] * len(cast.pods)
    limits: dict[int, Limits] = {}
    placed = 0
    answers = placed_in_turn(cast.pods, cast.order, stage.classifier, stage.tables)
    for number, answer in enumerate(answers):
        placement = answer.placement
        if placement is None:
            limits[answer.pod] = reasons.of(answer.pod_class)
        else:
            fates[answer.pod] = fate(placement.row, placement.shares)
            placed += 1
        if number % PROGRESS_EVERY == 0:
            onlooker.progress.placed(placed, len(cast.pods))
    _tell(name, cast, fates, stage, onlooker)
    return _measured(name, cast.pods, tuple(fates), limits, stage)


def recorded(cast: Cast, stage: Stage) -> Run:
    """Return the run that the input records; the stage holds the pods where they are."""
    holdings = stage.picture.ledger.holdings
    fates = []
    limits: dict[int, Limits] = {}
    for number, pod in enumerate(cast.pods):
        holding = holdings.get(pod.uid)
        fates.append(Fate() if holding is None else fate(holding.row, holding.shares))
        if holding is None:
            limits[number] = (LimitReport(reason=WAITS, nodes=0),)
    return _measured(RECORDED, cast.pods, tuple(fates), limits, stage)


def _measured(
    name: str,
    pods: Sequence[Pod],
    fates: tuple[Fate, ...],
    limits: dict[int, Limits],
    stage: Stage,
) -> Run:
    ledger, classifier = stage.picture.ledger, stage.classifier
    return Run(
        name=name,
        names=tuple(ledger.names),
        fates=fates,
        limits=limits,
        used=rows_in_use(ledger, (pod.uid for pod in pods)),
        devices=usage(ledger),
        fragments=fragments(shapes(pods, classifier), classifier, stage.tables),
    )


def _tell(name: str, cast: Cast, fates: Sequence[Fate], stage: Stage, onlooker: Onlooker) -> None:
    tell, names = onlooker.tell, stage.picture.ledger.names
    placed = sum(each.is_placed for each in fates)
    tell(Level.DECISION, "replayed", policy=name, placed=placed, refused=len(fates) - placed)
    if tell.hears(Level.DEBUG):
        for pod, each in zip(cast.pods, fates, strict=True):
            node = names[each.row] if each.is_placed else ""
            tell(Level.DEBUG, "pod_replayed", policy=name, pod=pod.key, node=node)
