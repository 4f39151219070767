"""A StatefulSet and its pods, pure: which pods its controller makes and deletes next, and what its status says.

Pods become ready and go away when the test says so, as a kubelet would. A pod that is on its way out
still counts in the status, so an autoscaler sees as many replicas as before until it is gone.
"""

from typing import Literal, TypeAlias, assert_never

import msgspec

Order = Literal["OrderedReady", "Parallel"]


class Pod(msgspec.Struct, frozen=True, kw_only=True):
    """One pod by its ordinal."""

    ordinal: int
    is_ready: bool = False
    is_going: bool = False

    @property
    def is_healthy(self) -> bool:
        """Return whether the controller goes on past it."""
        return self.is_ready and not self.is_going


class StatefulSet(msgspec.Struct, frozen=True, kw_only=True):
    """What is wanted, and the pods there are, from the lowest ordinal on."""

    replicas: int
    start: int = 0
    order: Order = "OrderedReady"
    pods: tuple[Pod, ...] = ()

    @property
    def status_replicas(self) -> int:
        """Return what its status says: all pods that exist."""
        return len(self.pods)

    @property
    def ready_replicas(self) -> int:
        """Return how many of them are ready."""
        return sum(each.is_ready for each in self.pods)

    @property
    def ordinals(self) -> tuple[int, ...]:
        """Return the ordinals that there should be."""
        return tuple(range(self.start, self.start + self.replicas))

    def floor(self, indices: dict[int, int]) -> int:
        """Return the highest index of pods that hold state, by their ordinals."""
        return max(
            (indices[each.ordinal] for each in self.pods if each.ordinal in indices), default=0
        )


class Scaled(msgspec.Struct, frozen=True):
    """So many replicas are wanted from now on."""

    replicas: int


class Readied(msgspec.Struct, frozen=True):
    """A pod has become ready, or is not any more."""

    ordinal: int
    is_ready: bool = True


class Gone(msgspec.Struct, frozen=True):
    """The containers of a pod that was deleted have ended."""

    ordinal: int


Event: TypeAlias = Scaled | Readied | Gone


class Create(msgspec.Struct, frozen=True):
    """Make a pod."""

    ordinal: int


class Delete(msgspec.Struct, frozen=True):
    """Delete a pod."""

    ordinal: int


Command: TypeAlias = Create | Delete


def running(replicas: int, *, start: int = 0, order: Order = "OrderedReady") -> StatefulSet:
    """Return a StatefulSet whose pods are all ready."""
    pods = tuple(Pod(ordinal=start + each, is_ready=True) for each in range(replicas))
    return StatefulSet(replicas=replicas, start=start, order=order, pods=pods)


def step(found: StatefulSet, event: Event) -> tuple[StatefulSet, tuple[Command, ...]]:
    """Fold one event in; the pods are as they are once the commands are done."""
    after = _folded(found, event)
    commands = _creations(after)
    if after.order == "Parallel" or (not commands and _is_settled(after)):
        commands = (*commands, *_deletions(after))
    return _done(after, commands), commands


def _folded(found: StatefulSet, event: Event) -> StatefulSet:
    match event:
        case Scaled(replicas=replicas):
            return msgspec.structs.replace(found, replicas=replicas)
        case Readied(ordinal=ordinal, is_ready=is_ready):
            return _with(
                found,
                *(
                    msgspec.structs.replace(each, is_ready=is_ready)
                    if each.ordinal == ordinal
                    else each
                    for each in found.pods
                ),
            )
        case Gone(ordinal=ordinal):
            return _with(found, *(each for each in found.pods if each.ordinal != ordinal))
        case _:
            assert_never(event)


def _creations(found: StatefulSet) -> tuple[Command, ...]:
    """Return what is missing, in order only the first where all below it are healthy."""
    there = {each.ordinal: each for each in found.pods}
    missing: list[Command] = []
    for ordinal in found.ordinals:
        if ordinal not in there:
            missing.append(Create(ordinal))
        if found.order == "OrderedReady" and (missing or not there[ordinal].is_healthy):
            break
    return tuple(missing)


def _is_settled(found: StatefulSet) -> bool:
    """Return whether all pods that there should be are there and healthy."""
    healthy = {each.ordinal for each in found.pods if each.is_healthy}
    return healthy.issuperset(found.ordinals)


def _deletions(found: StatefulSet) -> tuple[Command, ...]:
    """Return which pods are deleted that there should not be, in order one after the other is gone."""
    condemned = [each for each in found.pods if each.ordinal not in found.ordinals]
    if found.order == "Parallel":
        return tuple(Delete(each.ordinal) for each in condemned[::-1] if not each.is_going)
    if not condemned or any(each.is_going for each in condemned):
        return ()
    unhealthy = [each for each in condemned if not each.is_healthy]
    # One that is not healthy holds the others up, unless it is the first of these.
    if not condemned[-1].is_healthy and condemned[-1] != unhealthy[0]:
        return ()
    return (Delete(condemned[-1].ordinal),)


def _done(found: StatefulSet, commands: tuple[Command, ...]) -> StatefulSet:
    deleted = {each.ordinal for each in commands if isinstance(each, Delete)}
    kept = [
        msgspec.structs.replace(each, is_going=each.is_going or each.ordinal in deleted)
        for each in found.pods
    ]
    made = [Pod(ordinal=each.ordinal) for each in commands if isinstance(each, Create)]
    return _with(found, *kept, *made)


def _with(found: StatefulSet, *pods: Pod) -> StatefulSet:
    """Return it with other pods, whatever their order."""
    listed = tuple(sorted(pods, key=lambda each: each.ordinal))
    return msgspec.structs.replace(found, pods=listed)
