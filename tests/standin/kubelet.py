"""A kubelet, pure: what it knows of its node's pods, and what it does about each next.

Pods are admitted one at a time, as in a kubelet: as long as a device plugin does not answer for one,
those behind it wait. A pod whose devices it does not get ends as Failed. Whatever is seen is folded in
first, then each pod is moved on as far as it goes, so nothing is lost by what is seen late or twice.
While the node is silent it sees everything and does nothing; afterwards it catches up.
"""

from collections.abc import Mapping
from enum import Enum, auto
from typing import Final, TypeAlias, assert_never

import msgspec

from tests.standin.conduct import FOR_EVER, WELL, Conduct, of_pod
from tests.standin.seen import Pod

NOT_ADMITTED: Final = "UnexpectedAdmissionError"


class Stage(Enum):
    """How far a pod has come on its node."""

    WAITING = auto()
    ALLOCATING = auto()
    REFUSED = auto()
    STARTING = auto()
    RUNNING = auto()
    ENDED = auto()
    STOPPING = auto()
    REMOVED = auto()


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """A pod, its stage, when that is over, and why it was refused, if it was."""

    pod: Pod
    stage: Stage
    until_s: float = FOR_EVER
    why: str = ""


class Kubelet(msgspec.Struct, frozen=True, kw_only=True):
    """What one kubelet knows; `work` is by uid, in the order in which pods came."""

    node: str
    conduct: Conduct = WELL
    work: Mapping[str, Work] = {}


class Seen(msgspec.Struct, frozen=True):
    """A pod of this node is there or has changed."""

    pod: Pod


class Vanished(msgspec.Struct, frozen=True):
    """A pod is no longer there."""

    uid: str


class Answered(msgspec.Struct, frozen=True):
    """The device plugin is done with a pod; `why` it gave none, empty if it did."""

    uid: str
    why: str = ""


class Ordered(msgspec.Struct, frozen=True):
    """The node is to behave like this from now on."""

    conduct: Conduct


class Woken(msgspec.Struct, frozen=True):
    """It is the time that was asked for."""


Event: TypeAlias = Seen | Vanished | Answered | Ordered | Woken


class Allocate(msgspec.Struct, frozen=True):
    """Ask the device plugin for what the containers of a pod ask for."""

    pod: Pod


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """Write the phase of a pod; `why` and `reason` say what went wrong."""

    pod: Pod
    phase: str
    exit_code: int = 0
    reason: str = ""
    why: str = ""


class Remove(msgspec.Struct, frozen=True):
    """Let a pod go whose containers are stopped."""

    pod: Pod


class WakeAt(msgspec.Struct, frozen=True):
    """Come back at this time."""

    when_s: float


Command: TypeAlias = Allocate | Report | Remove | WakeAt


def step(kubelet: Kubelet, event: Event, *, now_s: float) -> tuple[Kubelet, tuple[Command, ...]]:
    """Fold one event in, and say what is to be done now."""
    after = _folded(kubelet, event, now_s)
    if after.conduct.is_silent:
        return after, ()
    moved, commands = _moved(after, now_s)
    until_s = min((each.until_s for each in moved.work.values()), default=FOR_EVER)
    wake = () if until_s == FOR_EVER else (WakeAt(until_s),)
    return moved, (*commands, *wake)


def _folded(kubelet: Kubelet, event: Event, now_s: float) -> Kubelet:
    work = dict(kubelet.work)
    match event:
        case Seen(pod=pod):
            known = work.get(pod.metadata.uid)
            work[pod.metadata.uid] = (
                _arrived(kubelet, pod, now_s)
                if known is None
                else msgspec.structs.replace(known, pod=pod)
            )
        case Vanished(uid=uid):
            work.pop(uid, None)
        case Answered(uid=uid, why=why):
            if uid in work and work[uid].stage is Stage.ALLOCATING:
                work[uid] = _answered(kubelet, work[uid].pod, why, now_s)
        case Ordered(conduct=conduct):
            return msgspec.structs.replace(kubelet, conduct=conduct)
        case Woken():
            pass
        case _:
            assert_never(event)
    return msgspec.structs.replace(kubelet, work=work)


def _arrived(kubelet: Kubelet, pod: Pod, now_s: float) -> Work:
    """Take in a pod that is new to this kubelet, which may have been started again."""
    if pod.has_ended:
        return Work(pod=pod, stage=Stage.ENDED)
    if pod.status.phase == "Running":
        return _running(kubelet, pod, now_s)
    return Work(pod=pod, stage=Stage.WAITING)


def _answered(kubelet: Kubelet, pod: Pod, why: str, now_s: float) -> Work:
    if why:
        return Work(pod=pod, stage=Stage.REFUSED, why=why)
    conduct = of_pod(kubelet.conduct, pod.metadata.annotations)
    return Work(pod=pod, stage=Stage.STARTING, until_s=now_s + conduct.start_s)


def _running(kubelet: Kubelet, pod: Pod, now_s: float) -> Work:
    conduct = of_pod(kubelet.conduct, pod.metadata.annotations)
    return Work(pod=pod, stage=Stage.RUNNING, until_s=now_s + conduct.run_s)


def _moved(kubelet: Kubelet, now_s: float) -> tuple[Kubelet, tuple[Command, ...]]:
    """Move every pod on as far as it goes now."""
    work: dict[str, Work] = {}
    commands: list[Command] = []
    is_busy = any(each.stage is Stage.ALLOCATING for each in kubelet.work.values())
    for uid, each in kubelet.work.items():
        moved = each
        if not (is_busy and each.stage is Stage.WAITING and not each.pod.is_going):
            moved, done = _onward(kubelet, each, now_s)
            commands += done
        is_busy = is_busy or moved.stage is Stage.ALLOCATING
        work[uid] = moved
    return msgspec.structs.replace(kubelet, work=work), tuple(commands)


def _onward(kubelet: Kubelet, work: Work, now_s: float) -> tuple[Work, tuple[Command, ...]]:
    """Move one pod on."""
    if work.pod.is_going:
        return _stopped(kubelet, work, now_s)
    match work.stage:
        case Stage.WAITING:
            return Work(pod=work.pod, stage=Stage.ALLOCATING), (Allocate(work.pod),)
        case Stage.REFUSED:
            report = Report(
                pod=work.pod, phase="Failed", reason=NOT_ADMITTED, why=work.why, exit_code=1
            )
            return Work(pod=work.pod, stage=Stage.ENDED), (report,)
        case Stage.STARTING if work.until_s <= now_s:
            return _running(kubelet, work.pod, now_s), (Report(pod=work.pod, phase="Running"),)
        case Stage.RUNNING if work.until_s <= now_s:
            code = of_pod(kubelet.conduct, work.pod.metadata.annotations).exit_code
            phase = "Failed" if code else "Succeeded"
            report = Report(pod=work.pod, phase=phase, exit_code=code)
            return Work(pod=work.pod, stage=Stage.ENDED), (report,)
        case _:
            return work, ()


def _stopped(kubelet: Kubelet, work: Work, now_s: float) -> tuple[Work, tuple[Command, ...]]:
    """Stop the containers of a pod that somebody deleted, then let it go."""
    if work.stage is Stage.REMOVED:
        return work, ()
    if work.stage is not Stage.STOPPING:
        stop_s = of_pod(kubelet.conduct, work.pod.metadata.annotations).stop_s
        work = Work(pod=work.pod, stage=Stage.STOPPING, until_s=now_s + stop_s)
    if work.until_s > now_s:
        return work, ()
    return Work(pod=work.pod, stage=Stage.REMOVED), (Remove(work.pod),)
