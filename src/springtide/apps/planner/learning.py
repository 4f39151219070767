"""What policies know of a cluster before anything is decided: which pods run, and which wait.

Pods are only counted if somebody goes by a policy that counts, because it takes time.
"""

from collections.abc import Iterator, Mapping

from springtide.apps.planner.families import POLICIES, Policies
from springtide.apps.planner.picture import Picture
from springtide.engine.placement.classes import Classifier
from springtide.engine.placement.family import DeviceFamily
from springtide.engine.placement.order import has_token
from springtide.engine.placement.policy import PolicyTable
from springtide.model.pod import Pod
from springtide.wire.hami import keys


def learn(
    table: PolicyTable,
    picture: Picture,
    families: Mapping[str, DeviceFamily],
    policies: Policies,
) -> None:
    """Let the policies count the pods of a picture, if they are asked for."""
    if not any(_is_counting(word) for word in _words(picture, policies)):
        return
    classify = Classifier(families).classify
    for pod in (*_running(picture), *picture.waiting):
        table.see(classify(pod))


def _is_counting(word: str) -> bool:
    return any(has_token(word, name) for name in POLICIES)


def _words(picture: Picture, policies: Policies) -> Iterator[str]:
    """Yield what is said about policies, once or more."""
    yield from (policies.node, policies.device)
    for pod in picture.waiting:
        yield pod.annotations.get(keys.NODE_POLICY, "")
        yield pod.annotations.get(keys.DEVICE_POLICY, "")


def _running(picture: Picture) -> Iterator[Pod]:
    for row in range(picture.ledger.count):
        yield from picture.evictable.residents.on(row)
