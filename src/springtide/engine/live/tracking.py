"""Which pods hold devices, from their annotations and from what was just decided about them.

A pod that is bound holds what its annotations say, until it has ended. A pod that is not holds what
was chosen for it last: by this process, as long as nothing newer is written on the pod, or by another
one, which wrote it there. That is a reservation, and ends when nobody binds the pod for too long.
"""

from collections.abc import Mapping
from typing import Final

import msgspec
from msgspec.structs import replace

from springtide.base.annotations import BIND_TIME, NODE, RESERVED_AT
from springtide.engine.live import events
from springtide.engine.live.commands import Commands, PatchPod
from springtide.engine.live.holders import Held, Holders, closure
from springtide.engine.live.settings import LiveSettings
from springtide.engine.live.writing import Writing
from springtide.engine.placement.family import DeviceFamily
from springtide.model.device import Allocation
from springtide.model.pod import Pod
from springtide.model.refusal import Refusal

NOT_BY_US: Final = (
    "the pod was bound before its devices were written on it, so its plugin does not know them: give "
    "the extender a bindVerb in kube-scheduler's configuration, or set reservationWrittenAt to filter"
)


class Reservation(msgspec.Struct, frozen=True, kw_only=True):
    """What is held for a pod that is not bound: where, since when, and whether it was chosen here.

    `stamp` is the time of the choice as it is written on the pod, and `is_unwritten` says that it is
    not written there before the pod is bound.
    """

    node: str
    stamp: int
    since_s: float
    is_own: bool = False
    is_unwritten: bool = False
    is_binding: bool = False

    def outlasts(self, stamp: int) -> bool:
        """Return whether what was written on the pod at this time says nothing newer."""
        return self.is_binding or (self.is_own and stamp <= self.stamp)


class Tracking:
    """All pods that hold devices or wait for them."""

    def __init__(
        self, families: Mapping[str, DeviceFamily], settings: LiveSettings, holders: Holders
    ) -> None:
        self._families = families
        self._settings = settings
        self._holders = holders
        self._writing = Writing(families)
        self._read: dict[str, tuple[Mapping[str, str], bool, str]] = {}
        self._dismissed: dict[str, int] = {}
        self._marked: set[str] = set()
        self._unseen: dict[str, float] = {}
        self.waiting: dict[str, Pod] = {}
        self.reservations: dict[str, Reservation] = {}
        self.expired = 0

    # What informers tell

    def see(self, pod: Pod, *, now_s: float) -> Commands:
        """Take in a pod as it is now."""
        self._unseen.pop(pod.uid, None)
        if pod.is_finished:
            self.forget(pod.uid)
            return ()
        if pod.node_name:
            told = self._overlooked(pod)
            self._see_bound(pod)
            return told
        return self._see_waiting(pod, now_s=now_s)

    def forget(self, uid: str) -> None:
        """Forget a pod that has ended or is gone."""
        self._drop(uid)
        self._settled(uid)

    def _settled(self, uid: str) -> None:
        """Forget what mattered while a pod waited."""
        self.waiting.pop(uid, None)
        self._dismissed.pop(uid, None)
        self._marked.discard(uid)
        self._unseen.pop(uid, None)

    def _overlooked(self, pod: Pod) -> Commands:
        """Return what is said of a pod that was bound by somebody else before its devices were written."""
        reserved = self.reservations.get(pod.uid)
        if reserved is None or not reserved.is_unwritten or NODE in pod.annotations:
            return ()
        return (events.not_bound(pod, NOT_BY_US),)

    def _see_bound(self, pod: Pod) -> None:
        uid, place = pod.uid, pod.annotations.get(NODE)
        self._settled(uid)
        read = (pod.annotations, pod.is_init_done, pod.node_name)
        if self._read.get(uid) == read:
            return
        self._drop(uid)
        if place is None:
            return
        # A pod that runs elsewhere than its devices are has none of them.
        held = self._decoded(pod, node=place if place == pod.node_name else "")
        if held is not None:
            self._holders.hold(held)
            self._read[uid] = read

    def _see_waiting(self, pod: Pod, *, now_s: float) -> Commands:
        uid, place = pod.uid, pod.annotations.get(NODE)
        self.waiting[uid] = pod
        reserved = self.reservations.get(uid)
        if reserved is None and uid in self._holders:
            # It has been bound since.
            return ()
        stamp = _stamp(pod)
        if reserved is not None and reserved.outlasts(stamp):
            return ()
        if place is not None and stamp <= self._dismissed.get(uid, -1):
            return (self._writing.clearing(pod, ()),)
        written_s = min(max(stamp, _seconds(pod.annotations.get(BIND_TIME))), now_s)
        since_s = written_s or (now_s if reserved is None else reserved.since_s)
        self._drop(uid)
        is_late = now_s - since_s > self._settings.reservation_timeout_s
        held = None if place is None or is_late else self._decoded(pod, node=place)
        if held is not None:
            self._holders.hold(held)
            self.reservations[uid] = Reservation(node=held.node, stamp=stamp, since_s=since_s)
        return ()

    def _decoded(self, pod: Pod, *, node: str) -> Held | None:
        """Return what is written on a pod, None if that is nothing."""
        answers = [(name, family.decode(pod)) for name, family in self._families.items()]
        held = Held(
            uid=pod.uid,
            namespace=pod.namespace,
            node=node,
            allocations=tuple(each for _, each in answers if isinstance(each, Allocation)),
            closures=tuple(closure(name, a) for name, a in answers if isinstance(a, Refusal)),
        )
        return held if held.allocations or held.closures else None

    # What is decided here

    def reserve(
        self, pod: Pod, node: str, allocations: tuple[Allocation, ...], *, now_s: float
    ) -> PatchPod | None:
        """Hold devices for a pod that holds none, and return what is to be written on it now."""
        uid = pod.uid
        held = Held(uid=uid, namespace=pod.namespace, node=node, allocations=allocations)
        self._holders.hold(held)
        at_s = int(now_s)
        self._hear_of(pod, now_s=now_s)
        self._dismissed.pop(uid, None)
        # What is written must never be another choice than the last one.
        is_written = NODE in pod.annotations or uid in self._marked
        is_unwritten = self._settings.writes_at_bind and not is_written
        self.reservations[uid] = Reservation(
            node=node, stamp=at_s, since_s=at_s, is_own=True, is_unwritten=is_unwritten
        )
        if is_unwritten:
            return None
        return self._writing.reserving(pod, node, allocations, at_s=at_s)

    def begin_binding(self, uid: str) -> PatchPod | None:
        """Keep a reservation while the pod is being bound, and return what the bind is to write of it."""
        reserved = self.reservations[uid]
        self.reservations[uid] = replace(reserved, is_binding=True)
        held = self._holders.get(uid)
        if held is None or not (reserved.is_own and self._settings.writes_at_bind):
            return None
        self._marked.add(uid)
        pod = self.waiting[uid]
        return self._writing.reserving(pod, held.node, held.allocations, at_s=reserved.stamp)

    def give_up(self, uid: str) -> Held | None:
        """Free what is reserved for a pod, and remember that it must not be read from it again."""
        reserved = self.reservations.get(uid)
        if reserved is None:
            return None
        self._dismissed[uid] = reserved.stamp
        return self._drop(uid)

    def withdraw(self, uid: str) -> Commands:
        """Give up a reservation, and take it off the pod."""
        held = self.give_up(uid)
        pod = self.waiting.get(uid)
        if held is None or pod is None:
            return ()
        return (self._writing.clearing(pod, held.allocations),)

    def clear(self, pod: Pod) -> Commands:
        """Take off a waiting pod what is written of an earlier reservation, if anything is."""
        patch = self.clearing(pod)
        return () if patch is None else (patch,)

    def clearing(self, pod: Pod) -> PatchPod | None:
        """Return what takes off a waiting pod what is written of an earlier reservation."""
        if NODE not in pod.annotations:
            return None
        self._dismiss(pod.uid, _stamp(pod))
        return self._writing.clearing(pod, ())

    def release(self, pod: Pod, *, now_s: float) -> None:
        """Free what a pod holds, before it is asked again what it gets."""
        reserved = self.reservations.get(pod.uid)
        if reserved is not None and reserved.is_binding:
            # Its bind may be writing it at this moment.
            self._dismiss(pod.uid, reserved.stamp)
        self._drop(pod.uid)
        self._hear_of(pod, now_s=now_s)

    def end_binding(self, uid: str, *, is_bound: bool, marked_s: int) -> None:
        """Let a reservation be for good, or wait for the next attempt from when the pod was marked."""
        reserved = self.reservations.get(uid)
        if reserved is None:
            return
        if is_bound:
            del self.reservations[uid]
        else:
            since_s = max(reserved.since_s, marked_s)
            self.reservations[uid] = replace(reserved, is_binding=False, since_s=since_s)

    def expire(self, *, now_s: float) -> Commands:
        """Withdraw the reservations that nobody has bound in time."""
        limit_s = now_s - self._settings.reservation_timeout_s
        late = [
            uid
            for uid, each in self.reservations.items()
            if each.since_s < limit_s and not each.is_binding
        ]
        self.expired += len(late)
        commands = tuple(command for uid in late for command in self.withdraw(uid))
        # Who was gone before it was asked for them will not be told of again.
        heard = [uid for uid, heard_s in self._unseen.items() if heard_s < limit_s]
        for uid in heard:
            if uid not in self.reservations:
                self._settled(uid)
        return commands

    def _hear_of(self, pod: Pod, *, now_s: float) -> None:
        """Know a pod from who asks for it, perhaps before informers tell of it."""
        if pod.uid not in self.waiting or pod.uid in self._unseen:
            self._unseen[pod.uid] = now_s
        self.waiting[pod.uid] = pod

    def _dismiss(self, uid: str, stamp: int) -> None:
        self._dismissed[uid] = max(stamp, self._dismissed.get(uid, -1))

    def _drop(self, uid: str) -> Held | None:
        self.reservations.pop(uid, None)
        self._read.pop(uid, None)
        return self._holders.release(uid)


def _stamp(pod: Pod) -> int:
    """Return when devices were last chosen for a pod, as it is written on it, 0 if it is not."""
    return _seconds(pod.annotations.get(RESERVED_AT))


def _seconds(text: str | None) -> int:
    return int(text) if text is not None and text.isdecimal() and text.isascii() else 0
