"""Which gangs get their places, and in which order.

First all pods are placed as if there were no gangs. If every gang has its minimum then, that is the
answer. If not, gangs that would not get theirs even with everything to themselves are left out, as if
they were not there. The others that fell short take their turn by themselves, by priority and in
input order, between the pods before and behind them: the pods that such a gang needs are placed all
or not at all, and what it has beyond its minimum is placed with the pods behind it.
"""

from collections.abc import Hashable, Iterable, Sequence
from typing import Final

import msgspec

from springtide.engine.gang.ground import Ground, likeness, trial
from springtide.engine.gang.tally import first_needed, is_met, without
from springtide.model.gang import Gang
from springtide.model.pod import Pod

Identity = tuple[str, str, str]
"""What tells gangs apart."""

ATTEMPTS_MAX: Final = 2
"""How often the order is made anew for gangs that fell short only then, before all take turns."""


class Settled(msgspec.Struct, frozen=True):
    """What is left over: pods that fit nowhere, by priority, and gangs of which none was placed.

    Pods of these gangs are not among those left.
    """

    left: tuple[Pod, ...]
    unmet: tuple[Gang, ...] = ()


def settle(pods: Sequence[Pod], gangs: Sequence[Gang], ground: Ground) -> Settled:
    """Place the pods and hold what fits, of every gang at least its minimum or nothing."""
    if not gangs:
        return Settled(ground.place(pods))
    ground.fork()
    left = ground.place(pods)
    unmet = _unmet(gangs, left)
    if not unmet:
        ground.commit()
        return Settled(left)
    ground.revert()
    return _Settling(pods, gangs, ground).run(unmet)


def settle_more(settled: Settled, ground: Ground) -> Settled:
    """Try gangs that were not met once more, because there is more room now."""
    left, unmet = settled.left, []
    for gang in settled.unmet:
        others = attempt(gang, ground)
        if others is None:
            unmet.append(gang)
        else:
            left = (*left, *ground.place(others))
    return Settled(left, tuple(unmet))


def _unmet(gangs: Iterable[Gang], left: Iterable[Pod]) -> list[Gang]:
    uids = {pod.uid for pod in left}
    return [gang for gang in gangs if not is_met(gang, uids)]


class _Settling:
    """The order of pods and gangs, while it is found."""

    def __init__(self, pods: Sequence[Pod], gangs: Sequence[Gang], ground: Ground) -> None:
        self.ground = ground
        self.gangs = gangs
        self.ordered = sorted(pods, key=lambda pod: -pod.spec.priority)
        self.of_pod = {pod.uid: gang for gang in gangs for pod in gang.pods}

    def run(self, unmet: Sequence[Gang]) -> Settled:
        hopeless = self._hopeless(unmet)
        by_turns = {gang.identity for gang in unmet} - hopeless
        everyone = {gang.identity for gang in self.gangs} - hopeless
        for _ in range(ATTEMPTS_MAX):
            self.ground.fork()
            answer = _Turns(self, hopeless, by_turns).run()
            fallen = {gang.identity for gang in answer.unmet} - hopeless - by_turns
            if not fallen:
                self.ground.commit()
                return answer
            self.ground.revert()
            by_turns |= fallen
        return _Turns(self, hopeless, everyone).run()

    def _hopeless(self, unmet: Sequence[Gang]) -> set[Identity]:
        """Return the gangs that would not get their minimum even if they came first."""
        known: dict[Hashable, bool] = {}
        found: set[Identity] = set()
        for gang in unmet:
            alike = likeness(gang, self.ground)
            if alike not in known:
                with trial(self.ground):
                    known[alike] = attempt(gang, self.ground) is None
            if known[alike]:
                found.add(gang.identity)
        return found


class _Turns:
    """One walk through all pods and gangs in their order."""

    def __init__(
        self, settling: _Settling, hopeless: set[Identity], by_turns: set[Identity]
    ) -> None:
        self.settling = settling
        self.ground = settling.ground
        self.hopeless = hopeless
        self.by_turns = by_turns
        self.waiting: list[Pod] = []
        self.left: list[Pod] = []
        self.failed: set[Hashable] = set()
        self.refused: list[Gang] = []

    def run(self) -> Settled:
        seen: set[Identity] = set()
        for pod in self.settling.ordered:
            gang = self.settling.of_pod.get(pod.uid)
            if gang is None:
                self.waiting.append(pod)
            elif gang.identity not in seen:
                seen.add(gang.identity)
                self._take(gang)
        self._place_waiting()
        if self.ground.is_moving:
            # What was placed since may have made room.
            again, self.refused = self.refused, []
            for gang in again:
                self._take_turn(gang)
            self._place_waiting()
        return self._answer()

    def _take(self, gang: Gang) -> None:
        if gang.identity in self.hopeless:
            self.refused.append(gang)
        elif gang.identity in self.by_turns:
            self._take_turn(gang)
        else:
            self.waiting.extend(gang.pods)

    def _take_turn(self, gang: Gang) -> None:
        self._place_waiting()
        alike = likeness(gang, self.ground)
        left = None if alike in self.failed else attempt(gang, self.ground)
        if left is not None:
            self.waiting.extend(left)
            return
        self.refused.append(gang)
        if not self.ground.is_moving:
            # Placements only take room away.
            self.failed.add(alike)

    def _place_waiting(self) -> None:
        if self.waiting:
            self.left.extend(self.ground.place(self.waiting))
            self.waiting = []

    def _answer(self) -> Settled:
        refused = {gang.identity for gang in self.refused}
        others = (gang for gang in self.settling.gangs if gang.identity not in refused)
        unmet = refused.union(gang.identity for gang in _unmet(others, self.left))
        left = {pod.uid for pod in self.left}
        return Settled(
            left=tuple(pod for pod in self.settling.ordered if pod.uid in left),
            unmet=tuple(gang for gang in self.settling.gangs if gang.identity in unmet),
        )


def attempt(gang: Gang, ground: Ground) -> tuple[Pod, ...] | None:
    """Place what the gang needs; return its pods without a place, None if it got none at all."""
    needed = first_needed(gang)
    others = without(gang.pods, needed)
    ground.fork()
    left = ground.place(needed)
    if left and others:
        # Others of its pods may do where those that come first do not fit.
        others = ground.place(others)
    left = (*left, *others)
    if is_met(gang, {pod.uid for pod in left}):
        ground.commit()
        return left
    ground.revert()
    return None
