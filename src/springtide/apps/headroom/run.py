"""One run of headroom: decoded input in, report out."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from springtide.apps.headroom.asks import Asked, claiming
from springtide.apps.headroom.choosing import Request, Subjects, chosen
from springtide.apps.headroom.compose import Answered, compose
from springtide.apps.headroom.pools import pools
from springtide.apps.headroom.report import HeadroomReport
from springtide.apps.planner.gang_places import Standing
from springtide.apps.planner.onlooker import NOBODY, Onlooker
from springtide.apps.planner.picture import Picture
from springtide.apps.planner.schedulers import scheduler_notes
from springtide.apps.planner.setting import input_report
from springtide.apps.planner.stage import staged
from springtide.base.clock import Clock
from springtide.base.progress import Progress
from springtide.base.telling import Level, Tell
from springtide.engine.gang.ground import StandingNodes
from springtide.engine.headroom import room
from springtide.engine.headroom.walking import Walks
from springtide.engine.placement.classes import Classifier, without_quota
from springtide.engine.placement.tables import Tables
from springtide.model.overlay import Overlay
from springtide.model.pod import Pod
from springtide.wire.documents import Input

_ASKED: Final = "asked about: "


def run(
    found: Input,
    request: Request,
    *,
    clock: Clock,
    manifests: Sequence[Pod] = (),
    onlooker: Onlooker = NOBODY,
) -> HeadroomReport:
    """Return the report for the input; `manifests` are pods that are asked about, not counted.

    Raises `InvalidAsk` for an ask that makes no sense, and what planning raises for its input.
    """
    given = [_apart(pod, number) for number, pod in enumerate(manifests)]
    plain = [pod for pod in given if not pod.spec.device_claims]
    whole = replace(found, manifests=(*found.manifests, *plain))
    policies = request.policies
    with staged(whole, policies=policies, calls=None, clock=clock, onlooker=onlooker) as stage:
        picture = stage.picture
        subjects = _subjects(found, picture, given)
        asked = chosen(request, subjects, stage.families, stage.classifier)
        asks = _watched(asked.asks, onlooker.progress)
        answers = list(_answers(asks, stage.classifier, stage.tables))
        ground = StandingNodes(stage.tables, Overlay(picture.ledger), stage.classifier)
        gangs = tuple(Standing(picture.gangs, ground).all())
        account = stage.heard.account()
    _tell(answers, onlooker.tell)
    waiting = [each.pod for each in asked.asks]
    notes = (
        *claiming(subjects.pods),
        *scheduler_notes(stage.judges, waiting, found.selecting),
        *account.notes,
    )
    return compose(
        answers,
        picture.ledger,
        pools(picture.ledger, found.groups, by=request.by),
        left_out=asked.left_out,
        gangs=gangs,
        read=input_report(found, notes),
        problems=stage.problems,
    )


def _tell(answers: Iterable[Answered], tell: Tell) -> None:
    for each in answers:
        more = 0 if each.room is None else int(each.room.counts.sum())
        tell(Level.DECISION, "room_counted", ask=each.asked.name, more=more)


def _watched(asks: Sequence[Asked], progress: Progress) -> Iterator[Asked]:
    """Yield the asks, and say which one it is."""
    for number, each in enumerate(asks, start=1):
        progress.begin(f"Counting what fits: ask {number:,} of {len(asks):,}")
        yield each


def _apart(pod: Pod, number: int) -> Pod:
    """Return a manifest's pod under a uid that tells it from the pods of the input."""
    return replace(pod, uid=f"{_ASKED}{number}", node_name="")


def _subjects(found: Input, picture: Picture, given: Sequence[Pod]) -> Subjects:
    names = frozenset(pod.uid for pod in given)
    stored = {pod.key for pod in found.pods}
    planned = (pod for pod in picture.waiting if pod.uid not in names and pod.key not in stored)
    return Subjects(
        picture=picture,
        pods=(*found.pods, *planned),
        given=names,
        claiming=tuple(pod for pod in given if pod.spec.device_claims),
    )


def _answers(asks: Iterable[Asked], classifier: Classifier, tables: Tables) -> Iterator[Answered]:
    overlay, walks = Overlay(tables.ledger), Walks(tables)
    for asked in asks:
        pod_class = classifier.classify(asked.pod)
        if asked.is_nobodys:
            pod_class = without_quota(pod_class)
        refusal = pod_class.refusal
        if refusal is not None:
            told = f"{refusal.text}; {refusal.detail}" if refusal.detail else refusal.text
            yield Answered(asked=replace(asked, denied=asked.denied or told), room=None)
        elif asked.denied:
            yield Answered(asked=asked, room=None)
        else:
            yield Answered(asked=asked, room=room(pod_class, tables, overlay, walks))
