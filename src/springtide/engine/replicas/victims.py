"""Which members of a Deployment go first, as nothing in their names says it.

Its controller picks pods that are not ready, then those of the lowest deletion cost. So the leader
marks drained members as cheap and serving ones as dear, and replicas go down only once as many have
drained as are to go, and would be picked before all others. What the controller picked after all is
verified: after a wrong victim nothing shrinks until an operator says so.
"""

from collections.abc import Iterable
from typing import Final, TypeAlias, assert_never

import msgspec
from msgspec.structs import replace

DRAINED_COST: Final = -1000
SERVING_COST: Final = 1000
PATCH_GAP_MS: Final = 60_000
"""A pod's cost is written at most once in this time."""


class Pod(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One pod that lives: its place among the members, its labels, and what its controller sees."""

    name: str
    index: int
    is_target: bool = False
    is_ready: bool = False
    is_pod_ready: bool = True
    cost: int = 0


class Coordination(msgspec.Struct, frozen=True, kw_only=True):
    """Who was there last, whose cost was written when, and what may still be taken away.

    `leaving` is how many pods are to go because the workload was set to fewer.
    """

    pods: tuple[Pod, ...] = ()
    expect: int = 0
    replicas: int | None = None
    leaving: int = 0
    patched_ms: dict[str, int] = {}
    wrong: tuple[str, ...] = ()

    @property
    def are_drained(self) -> bool:
        """Return whether replicas may go down to what is expected."""
        return not self.wrong and are_drained(self.pods, self.expect)

    @property
    def holds(self) -> tuple[str, ...]:
        """Return why nothing may shrink; nothing if it may."""
        if not self.wrong:
            return ()
        words = f"{', '.join(self.wrong)} was taken away while it served"
        return (f"{words}: see why, and let the workload shrink again.",)


class PodsSeen(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Which pods live, without those that are being deleted, and what the workload is set to.

    What it is set to is read last, so that no pod is gone for a number that was not seen. Who leads marks;
    the others only verify, so that whoever leads next knows of a wrong victim, the leader itself included.
    """

    pods: tuple[Pod, ...]
    expect: int
    steady_ms: int
    cause: str
    replicas: int | None = None
    is_leader: bool = True


class Thawed(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """An operator knows what became of the wrong victims."""

    cause: str


class SetCost(msgspec.Struct, frozen=True, gc=False):
    """Write this deletion cost on this pod."""

    pod: str
    cost: int


class WrongVictim(msgspec.Struct, frozen=True):
    """Count and tell that a member was taken away while it served."""

    pod: str
    words: str


Event: TypeAlias = PodsSeen | Thawed
Command: TypeAlias = SetCost | WrongVictim
Stepped: TypeAlias = tuple[Coordination, tuple[Command, ...]]


def stateful_count(pods: Iterable[Pod]) -> int:
    """Return how many members may hold state: the floor where numbers have no order."""
    return sum(1 for each in pods if each.is_ready)


def victims(pods: Iterable[Pod], expect: int) -> tuple[Pod, ...]:
    """Return the members without a place, those that go first in front."""
    leaving = [each for each in pods if each.index > expect]
    return tuple(sorted(leaving, key=lambda each: -each.index))


def are_drained(pods: Iterable[Pod], expect: int) -> bool:
    """Return whether the controller would pick drained members alone on the way to so many."""
    listed = tuple(pods)
    staying = [each for each in listed if not _is_drained(each, expect)]
    drained = [each for each in listed if _is_drained(each, expect)]
    excess = len(listed) - expect
    if excess <= 0:
        return True
    if not all(each.is_pod_ready for each in staying):
        return False
    cheapest = min((each.cost for each in staying), default=SERVING_COST)
    return sum(1 for each in drained if not each.is_pod_ready or each.cost < cheapest) >= excess


def step(state: Coordination, event: Event) -> Stepped:
    """Fold one event into the coordination; say which costs to write, and what went wrong."""
    match event:
        case PodsSeen():
            state, wrong = _verified(_thawed_elsewhere(state, event), event)
            if not event.is_leader:
                return state, wrong
            state, costs = _marked(state, event)
            return state, (*wrong, *costs)
        case Thawed():
            return replace(state, wrong=()), ()
        case _:
            assert_never(event)


def _is_drained(pod: Pod, expect: int) -> bool:
    return pod.index > expect and not pod.is_target and not pod.is_ready


def _thawed_elsewhere(state: Coordination, seen: PodsSeen) -> Coordination:
    """Forget wrong victims when another member shrinks again: somebody has told it that it may."""
    is_over = not seen.is_leader and seen.expect < state.expect
    return replace(state, wrong=()) if is_over else state


def _verified(state: Coordination, seen: PodsSeen) -> tuple[Coordination, tuple[WrongVictim, ...]]:
    """Look which pods went for a workload that was set to fewer; drained ones count first."""
    leaving = _leaving(state, seen)
    present = {each.name for each in seen.pods}
    gone = [each for each in state.pods if each.name not in present]
    picked = sorted(gone, key=lambda each: each.is_ready)[:leaving]
    wrong = tuple(each.name for each in picked if each.is_ready)
    replicas = state.replicas if seen.replicas is None else seen.replicas
    excess = len(seen.pods) - replicas if replicas is not None else 0
    state = replace(
        state,
        pods=seen.pods,
        expect=seen.expect,
        replicas=replicas,
        leaving=min(leaving - len(picked), max(0, excess)),
        wrong=state.wrong + wrong,
    )
    return state, tuple(WrongVictim(each, _told(each)) for each in wrong)


def _leaving(state: Coordination, seen: PodsSeen) -> int:
    if state.replicas is None or seen.replicas is None:
        return state.leaving
    return max(0, state.leaving + state.replicas - seen.replicas)


def _told(pod: str) -> str:
    return f"{pod} served, and its controller took it away; nothing shrinks from now on."


def _marked(state: Coordination, seen: PodsSeen) -> tuple[Coordination, tuple[SetCost, ...]]:
    alive = {each.name for each in seen.pods}
    patched = {name: at_ms for name, at_ms in state.patched_ms.items() if name in alive}
    costs = tuple(
        SetCost(each.name, _cost(each, seen.expect))
        for each in seen.pods
        if each.cost != _cost(each, seen.expect)
        and seen.steady_ms - patched.get(each.name, seen.steady_ms - PATCH_GAP_MS) >= PATCH_GAP_MS
    )
    patched |= {each.pod: seen.steady_ms for each in costs}
    return replace(state, patched_ms=patched), costs


def _cost(pod: Pod, expect: int) -> int:
    if pod.is_ready:
        return SERVING_COST
    return DRAINED_COST if _is_drained(pod, expect) else 0
