"""What is worth knowing about how the pods of a replay are placed."""

from collections.abc import Sequence
from typing import Final

from springtide.apps.planner.schedulers import scheduler_notes
from springtide.apps.planner.stage import Stage
from springtide.apps.planner.words import counted
from springtide.model.pod import Pod
from springtide.wire.documents import Input
from springtide.wire.hami import keys

_OWN: Final = frozenset({keys.NODE_POLICY, keys.DEVICE_POLICY})


def notes(pods: Sequence[Pod], stage: Stage, found: Input) -> tuple[str, ...]:
    """Return the sentences for these pods, which come on this stage."""
    return (
        *_own_policies(pods),
        *_plain(pods, stage),
        *_gangs(pods),
        *scheduler_notes(stage.judges, pods, found.selecting),
        *stage.heard.account().notes,
    )


def _own_policies(pods: Sequence[Pod]) -> tuple[str, ...]:
    count = sum(not _OWN.isdisjoint(pod.annotations) for pod in pods)
    if not count:
        return ()
    who = f"{counted(count, 'pod')} {'names a policy' if count == 1 else 'name policies'}"
    return (f"{who} in annotations, which count under every policy.",)


def _plain(pods: Sequence[Pod], stage: Stage) -> tuple[str, ...]:
    count = sum(not stage.classifier.classify(pod).asks for pod in pods)
    if not count:
        return ()
    who = f"{counted(count, 'pod')} {'asks' if count == 1 else 'ask'} for no devices"
    what = "binpack and spread go by devices and give such pods the first node that fits"
    return (f"{who}: {what}; --devices-only leaves them where they are.",)


def _gangs(pods: Sequence[Pod]) -> tuple[str, ...]:
    count = sum(bool(pod.gang_links) for pod in pods)
    if not count:
        return ()
    who = f"{counted(count, 'pod')} of gangs {'is' if count == 1 else 'are'}"
    return (f"{who} placed one by one, as if they were in none.",)
