"""One run: decoded input and names of pods in, report out. Each pod is held against the cluster alone."""

from collections.abc import Iterable, Iterator, Sequence

import msgspec
from msgspec.structs import replace

from springtide.apps.planner.compose import not_evaluated, problem_reports
from springtide.apps.planner.families import Policies
from springtide.apps.planner.gang_places import Standing
from springtide.apps.planner.onlooker import NOBODY, Onlooker
from springtide.apps.planner.remedies import remedy
from springtide.apps.planner.schedulers import scheduler_notes
from springtide.apps.planner.setting import input_report
from springtide.apps.planner.stage import Stage, staged
from springtide.apps.why.asked import Asked, Names, asked
from springtide.apps.why.compose import Told, at_rest, told
from springtide.apps.why.report import PodWhy, State, WhyReport
from springtide.base.clock import Clock
from springtide.base.progress import Progress
from springtide.base.telling import Level, Tell
from springtide.engine.capacity.message import Rows, message
from springtide.engine.explain import Explained, Scene, explain
from springtide.engine.gang.ground import StandingNodes
from springtide.engine.placement.classes import PodClass
from springtide.model.overlay import Overlay
from springtide.model.pod import Pod
from springtide.wire.documents import Input

_LOOKED_AT = frozenset({State.WAITING, State.GATED, State.NOMINATED})
"""Pods in these states are held against the nodes; all others have had their answer."""
_WELL = frozenset({State.RUNNING, State.FINISHED})


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """Whom to ask about, and whether every node is to be told by itself."""

    names: Names = Names()
    policies: Policies = Policies()
    tells_all_nodes: bool = False


def run(found: Input, request: Request, *, clock: Clock, onlooker: Onlooker = NOBODY) -> WhyReport:
    """Return the report for the pods that are asked about.

    Raises `UnknownPod` for names that nobody has, and what `staged` raises. Scheduler extenders are
    taken to agree.
    """
    policies = request.policies
    with staged(found, policies=policies, calls=None, clock=clock, onlooker=onlooker) as stage:
        pods = asked(found, stage.picture, request.names)
        asker = _Asker(stage, request, clock)
        answers = _merged(map(asker.answer, _watched(pods, onlooker.progress)))
    _tell(answers, onlooker.tell)
    account = stage.heard.account()
    looked_at = [each.pod for each in pods if each.state in _LOOKED_AT]
    notes = (
        *scheduler_notes(stage.judges, looked_at, found.selecting),
        *_first_come(answers, others=len(stage.picture.waiting) - 1),
    )
    return WhyReport(
        fits=all(each.fits for each in answers),
        pods=answers,
        not_evaluated=not_evaluated(looked_at),
        extenders=account.reports,
        problems=problem_reports(stage.problems),
        input=input_report(found, (*notes, *account.notes)),
    )


def _tell(answers: Iterable[PodWhy], tell: Tell) -> None:
    for each in answers:
        tell(
            Level.DECISION,
            "pods_explained",
            pods=len(each.pods),
            first=each.pods[0],
            fits=str(each.fits).lower(),
            why=each.answer,
        )
        for change in each.changes:
            tell(Level.DEBUG, "change_found", first=each.pods[0], change=change.text)


def _watched(pods: Sequence[Asked], progress: Progress) -> Iterator[Asked]:
    """Yield the pods, and say which one it is."""
    for number, each in enumerate(pods, start=1):
        progress.begin(f"Explaining pod {number:,} of {len(pods):,}")
        yield each


class _Asker:
    """Asks about one pod after the other; equal pods are asked about once."""

    def __init__(self, stage: Stage, request: Request, clock: Clock) -> None:
        self._stage = stage
        self._request = request
        self._overlay = Overlay(stage.picture.ledger)
        self._scene = Scene(
            tables=stage.tables,
            classifier=stage.classifier,
            overlay=self._overlay,
            evictable=stage.picture.evictable,
            groups=stage.picture.groups,
            clock=clock,
        )
        ground = StandingNodes(stage.tables, self._overlay, stage.classifier)
        self._gangs = Standing(stage.picture.gangs, ground)
        self._known: dict[tuple[PodClass, State], Told] = {}

    def answer(self, who: Asked) -> PodWhy:
        """Return the answer about one pod."""
        if who.state not in _LOOKED_AT:
            return at_rest(who, self._stage, is_well=who.state in _WELL)
        return self._told(who).about(who, self._gangs.of(who.pod))

    def _told(self, who: Asked) -> Told:
        if who.pod.uid in self._overlay.ledger.holdings:
            # Its place is kept for it; to others it is taken, to itself it is free.
            with self._overlay.trial():
                self._overlay.release(who.pod.uid)
                return self._explained(who)
        key = (self._stage.classifier.classify(who.pod), who.state)
        if key not in self._known:
            self._known[key] = self._explained(who)
        return self._known[key]

    def _explained(self, who: Asked) -> Told:
        found = explain(who.pod, self._scene)
        stage = self._stage
        return told(
            who.pod,
            found,
            tables=stage.tables,
            message="" if found.fits else self._message(who.pod, found),
            remedy=_correction(found.pod_class)
            or remedy(found.pod_class, stage.judges, stage.families, stage.picture),
            tells_all_nodes=self._request.tells_all_nodes,
        )

    def _message(self, pod: Pod, found: Explained) -> str:
        there = Rows(
            overlay=self._overlay,
            below=self._overlay.ledger.count,
            evictable=self._stage.picture.evictable,
        )
        return message(pod, found.pod_class, tables=self._stage.tables, there=there)


def _first_come(answers: Iterable[PodWhy], *, others: int) -> Iterator[str]:
    """Yield that pods which fit may still find their places taken, if somebody else waits too."""
    if others > 0 and any(each.fits and each.state is State.WAITING for each in answers):
        who = "1 other pod waits" if others == 1 else f"{others} other pods wait"
        yield (
            "Every pod is looked at as if it were the first to be placed, but "
            f"{who} too and may take its place; 'springtide plan' places them all."
        )


def _correction(pod_class: PodClass) -> str:
    """Return what is wrong with an ask that makes no sense, empty for all others."""
    refusal = pod_class.refusal
    if refusal is None:
        return ""
    detail = f" ({refusal.detail})" if refusal.detail else ""
    return f"The pod itself is in the way: {refusal.text}{detail}. Correct it."


def _merged(answers: Iterable[PodWhy]) -> tuple[PodWhy, ...]:
    """Join the answers that are the same but for the pod; those of pods that do not fit come first."""
    found: dict[PodWhy, list[str]] = {}
    for each in answers:
        found.setdefault(replace(each, pods=()), []).extend(each.pods)
    told = [_named(each, pods) for each, pods in found.items()]
    return tuple(sorted(told, key=lambda each: each.fits))


def _named(answer: PodWhy, pods: list[str]) -> PodWhy:
    return replace(answer, pods=tuple(pods))
