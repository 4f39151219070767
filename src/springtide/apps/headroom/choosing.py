"""Which asks are answered for: those that are given, those of pods, the ladder."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal

import msgspec

from springtide.apps.headroom import asks, ladder, written
from springtide.apps.headroom.asks import Asked
from springtide.apps.headroom.written import Making
from springtide.apps.planner.families import Policies
from springtide.apps.planner.picture import Picture
from springtide.engine.placement.classes import Classifier
from springtide.engine.placement.family import DeviceFamily
from springtide.model.pod import Pod

About = Literal["given", "pods", "ladder"]
CLAIMS: Final = "it claims devices (resourceClaims), and claims are not asked about"
DEFAULT_SCHEDULER: Final = "default-scheduler"


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


class Subjects(msgspec.Struct, frozen=True, kw_only=True):
    """Whom asks may come from: pods of the input, and `given` manifests by the uids they have there.

    `claiming` are given ones that claim devices.
    """

    picture: Picture
    pods: Sequence[Pod]
    given: frozenset[str] = frozenset()
    claiming: tuple[Pod, ...] = ()


class Chosen(msgspec.Struct, frozen=True, kw_only=True):
    """The asks to answer for, and how many of pods are left out."""

    asks: tuple[Asked, ...]
    left_out: int


def chosen(
    request: Request,
    subjects: Subjects,
    families: Mapping[str, DeviceFamily],
    classifier: Classifier,
) -> Chosen:
    """Return the asks in the order in which they are asked about."""
    has_given = bool(request.asks or subjects.given or subjects.claiming)
    about = request.about or (("given",) if has_given else ("pods", "ladder"))
    ledger = subjects.picture.ledger
    pods = {pod.key: pod for pod in subjects.pods if asks.is_asking(pod)}.values()
    making = Making(
        families=families,
        types=ladder.device_types(ledger),
        tolerations=written.tolerations(ledger),
        scheduler=_scheduler(pods, families),
    )
    of_pods = asks.of_pods(pods, classifier) if "pods" in about else []
    found: Mapping[About, Sequence[Asked]] = {
        # Whoever gives an ask that makes no sense is told so, whatever is answered for.
        "given": [
            *(written.of_text(text, making) for text in request.asks),
            *_of_manifests(subjects, classifier),
        ],
        "pods": of_pods[: request.asks_max],
        "ladder": ladder.ladder(ledger, making) if "ladder" in about else (),
    }
    return Chosen(
        asks=tuple(each for name in dict.fromkeys(about) for each in found[name]),
        left_out=max(0, len(of_pods) - request.asks_max),
    )


def _of_manifests(subjects: Subjects, classifier: Classifier) -> Iterator[Asked]:
    picture, given = subjects.picture, subjects.given
    yield from asks.of_manifests((pod for pod in picture.waiting if pod.uid in given), classifier)
    claiming = [(pod, CLAIMS) for pod in subjects.claiming]
    denied = [each for each in (*picture.denied, *picture.apart) if each[0].uid in given]
    for pod, why in (*claiming, *denied):
        yield Asked(name=pod.key, source="Given", text=pod.name, pod=pod, denied=why)


def _scheduler(pods: Iterable[Pod], families: Mapping[str, DeviceFamily]) -> str:
    """Return the scheduler that pods with devices name most."""
    managed = frozenset(name for each in families.values() for name in each.resource_names())
    counts = Counter(pod.spec for pod in pods)
    names: Counter[str] = Counter()
    for spec, count in counts.items():
        stated = (pair for each in spec.containers for pair in (*each.limits, *each.requests))
        if any(name in managed for name, _ in stated):
            names[spec.scheduler_name] += count
    return names.most_common(1)[0][0] if names else DEFAULT_SCHEDULER
