"""One run of headroom: decoded input in, report out."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal

import msgspec
from msgspec.structs import replace

from springtide.apps.headroom import asks, ladder
from springtide.apps.headroom.asks import Asked, Making
from springtide.apps.headroom.compose import Answered, compose
from springtide.apps.headroom.pools import pools
from springtide.apps.headroom.report import HeadroomReport
from springtide.apps.planner import inspection
from springtide.apps.planner.assemble import Picture, assemble
from springtide.apps.planner.consulting import consulted
from springtide.apps.planner.families import Policies
from springtide.apps.planner.schedulers import scheduler_notes, schedulers
from springtide.apps.planner.setting import families_of, input_report
from springtide.base.clock import Clock
from springtide.engine.headroom import room
from springtide.engine.headroom.walking import Walks
from springtide.engine.placement.classes import Classifier
from springtide.engine.placement.family import DeviceFamily
from springtide.engine.placement.tables import Tables
from springtide.model.overlay import Overlay
from springtide.model.pod import Pod
from springtide.wire.documents import Input

About = Literal["given", "pods", "ladder"]
DEFAULT_SCHEDULER: Final = "default-scheduler"
_ASKED: Final = "asked about: "


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What the caller may choose.

    `about` says which asks to answer for; without it the given ones, or if there are none, those of
    pods and the ladder. `asks_max` bounds those of pods. `by` is a label, `group` or `devices`.
    """

    asks: tuple[str, ...] = ()
    about: tuple[About, ...] = ()
    asks_max: int = 10
    by: str = ""
    policies: Policies = Policies()


def run(
    found: Input, request: Request, *, clock: Clock, manifests: Sequence[Pod] = ()
) -> HeadroomReport:
    """Return the report for the input; `manifests` are pods that are asked about, not counted.

    Raises `InvalidAsk` for an ask that makes no sense, and what planning raises for its input.
    """
    kinds = families_of(found, request.policies)
    judges = schedulers(found.scheduler, kinds, found.storage)
    given = [_apart(pod, number) for number, pod in enumerate(manifests)]
    whole = replace(found, manifests=(*found.manifests, *given))
    picture = assemble(whole, kinds, spreading=judges.spreading)
    names = frozenset(pod.uid for pod in given)
    pods = [pod for pod in (*found.pods, *picture.waiting) if pod.uid not in names]
    with consulted(found, picture, kinds, allowed=None, clock=clock) as heard:
        tables = Tables(picture.ledger, judges.framework, kinds, by_scheduler=judges.by_name)
        classifier = Classifier(kinds, keys=picture.read_keys, defaults=picture.defaults)
        chosen, left_out = _chosen(request, picture, pods, names, kinds, classifier)
        answers = list(_answers(chosen, classifier, tables))
        account = heard.account()
    waiting = [each.pod for each in chosen]
    notes = (*scheduler_notes(judges, waiting, found.selecting), *account.notes)
    return compose(
        answers,
        picture.ledger,
        pools(picture.ledger, found.groups, by=request.by),
        left_out=left_out,
        read=input_report(found, notes),
        problems=(
            *found.problems,
            *inspection.inspected(found),
            *picture.problems,
            *judges.problems,
        ),
    )


def _apart(pod: Pod, number: int) -> Pod:
    """Return a manifest's pod under a uid that tells it from the pods of the input."""
    return replace(pod, uid=f"{_ASKED}{number}", node_name="")


def _chosen(
    request: Request,
    picture: Picture,
    pods: Iterable[Pod],
    manifests: frozenset[str],
    kinds: Mapping[str, DeviceFamily],
    classifier: Classifier,
) -> tuple[list[Asked], int]:
    """Return the asks to answer for, and how many of pods are left out."""
    has_given = bool(request.asks or manifests)
    about = request.about or (("given",) if has_given else ("pods", "ladder"))
    ledger = picture.ledger
    each_once = {pod.key: pod for pod in pods if asks.is_asking(pod)}.values()
    making = Making(
        families=kinds,
        types=ladder.device_types(ledger),
        tolerations=asks.tolerations(ledger),
        scheduler=_scheduler(each_once, kinds),
    )
    found: dict[str, list[Asked]] = {"given": [], "pods": [], "ladder": []}
    found["given"] = [
        *(asks.of_text(text, making) for text in request.asks),
        *asks.of_manifests((each for each in picture.waiting if each.uid in manifests), classifier),
        *_denied(picture, manifests),
    ]
    if "pods" in about:
        found["pods"] = asks.of_pods(each_once, classifier)
    if "ladder" in about:
        found["ladder"] = ladder.ladder(ledger, making)
    left_out = max(0, len(found["pods"]) - request.asks_max)
    found["pods"] = found["pods"][: request.asks_max]
    return [each for name in dict.fromkeys(about) for each in found[name]], left_out


def _denied(picture: Picture, manifests: frozenset[str]) -> Iterator[Asked]:
    for pod, why in (*picture.denied, *picture.apart):
        if pod.uid in manifests:
            yield Asked(name=pod.key, source="Given", text=pod.name, pod=pod, denied=why)


def _scheduler(pods: Iterable[Pod], kinds: Mapping[str, DeviceFamily]) -> str:
    """Return the scheduler that pods with devices name most."""
    names = Counter(
        pod.spec.scheduler_name
        for pod in pods
        if any(family.ask(pod) is not None for family in kinds.values())
    )
    return names.most_common(1)[0][0] if names else DEFAULT_SCHEDULER


def _answers(
    chosen: Iterable[Asked], classifier: Classifier, tables: Tables
) -> Iterator[Answered]:
    overlay, walks = Overlay(tables.ledger), Walks(tables)
    for asked in chosen:
        if asked.denied:
            yield Answered(asked=asked, room=None)
        else:
            pod_class = classifier.classify(asked.pod)
            yield Answered(asked=asked, room=room(pod_class, tables, overlay, walks))
