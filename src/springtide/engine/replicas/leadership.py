"""Who decides: one member at a time, by a lock, and never right after winning it.

A winner reads the status, begins its windows anew, and waits for one whole pull of all metrics. A
leader that could not renew in time stops before others may start. All times are of one clock that
never runs back. What a deposed leader still writes fails in the store, by `fencing`.
"""

from enum import StrEnum
from typing import TypeAlias, assert_never

import msgspec
from msgspec.structs import replace


class Stage(StrEnum):
    """How far a member is on its way to decide."""

    FOLLOWER = "Follower"
    WAITING = "Waiting"
    TRYING = "Trying"
    WARMING = "Warming"
    LEADING = "Leading"


class Terms(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """How patient everybody is."""

    ttl_ms: int = 15_000
    safety_ms: int = 5_000
    preference_delay_ms: int = 1_000
    pull_interval_ms: int = 180_000

    @property
    def renewed_ms_max(self) -> int:
        """Return how long after its last renewal a leader still leads."""
        return self.ttl_ms - self.safety_ms


class Leadership(msgspec.Struct, frozen=True, kw_only=True):
    """Where one member stands; `place` counts from zero in the order of who is to lead."""

    stage: Stage = Stage.FOLLOWER
    is_eligible: bool = False
    place: int = 0
    is_lock_free: bool = False
    try_at_ms: int = 0
    token: int = 0
    renewed_ms: int = 0
    decide_from_ms: int = 0

    @property
    def holds_lock(self) -> bool:
        """Return whether this member holds the lock as far as it knows."""
        return self.stage in {Stage.WARMING, Stage.LEADING}


class StandingSeen(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Whether this member may lead, and its place among those who may."""

    is_eligible: bool
    place: int
    now_ms: int
    cause: str


class LockSeen(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Whether anybody holds the lock."""

    is_free: bool
    now_ms: int
    cause: str


class Won(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The lock is ours; it was asked for at `asked_ms`, from when on it runs."""

    token: int
    asked_ms: int
    now_ms: int
    cause: str


class NotWon(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Somebody else was first, or nobody knows."""

    cause: str


class Renewed(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The lock is ours for another while; it was asked for at `asked_ms`."""

    asked_ms: int
    cause: str


class Deposed(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The store says that the lock is not ours any more."""

    token: int
    cause: str


class Pulled(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Every metric was asked for and answered once since the lock was won."""

    now_ms: int
    cause: str


class Tick(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """It is now so late."""

    now_ms: int
    cause: str


class TryLock(msgspec.Struct, frozen=True):
    """Take the lock if it is free."""


class BeginLeading(msgspec.Struct, frozen=True):
    """Read the status, begin the windows anew with what it expects, and pull."""

    token: int


class EndLeading(msgspec.Struct, frozen=True):
    """Stop to pull, and show no decisions of one's own."""


class ReleaseLock(msgspec.Struct, frozen=True):
    """Give the lock to whoever wants it."""

    token: int


class WakeAt(msgspec.Struct, frozen=True):
    """Tick at this time."""

    at_ms: int


Event: TypeAlias = StandingSeen | LockSeen | Won | NotWon | Renewed | Deposed | Pulled | Tick
Command: TypeAlias = TryLock | BeginLeading | EndLeading | ReleaseLock | WakeAt
Stepped: TypeAlias = tuple[Leadership, tuple[Command, ...]]


def step(terms: Terms, state: Leadership, event: Event) -> Stepped:
    """Fold one event into where this member stands; say what it has to do."""
    match event:
        case StandingSeen(is_eligible=is_eligible, place=place, now_ms=now_ms):
            state = replace(state, is_eligible=is_eligible, place=place)
            return _placed(terms, state, now_ms) if is_eligible else _resigned(state)
        case LockSeen(is_free=is_free, now_ms=now_ms):
            return _placed(terms, replace(state, is_lock_free=is_free), now_ms)
        case Won() | NotWon() | Renewed() | Deposed():
            return _answered(terms, state, event)
        case Pulled(now_ms=now_ms):
            return _pulled(terms, state, now_ms)
        case Tick(now_ms=now_ms):
            return _ticked(terms, state, now_ms)
        case _:
            assert_never(event)


def _answered(terms: Terms, state: Leadership, event: Won | NotWon | Renewed | Deposed) -> Stepped:
    match event:
        case Won():
            return _won(terms, state, event)
        case Renewed(asked_ms=asked_ms):
            return _renewed(terms, state, asked_ms)
        case Deposed(token=token):
            if not state.holds_lock or token != state.token:
                return state, ()
            return replace(state, stage=Stage.FOLLOWER, token=0), (EndLeading(),)
        case NotWon():
            is_loss = state.stage is Stage.TRYING
            lost = replace(state, stage=Stage.FOLLOWER, is_lock_free=False)
            return lost if is_loss else state, ()
        case _:
            assert_never(event)


def _placed(terms: Terms, state: Leadership, now_ms: int) -> Stepped:
    """Begin to wait for a free lock, or stop to; whoever is to lead first waits least."""
    if state.stage is Stage.WAITING and not state.is_lock_free:
        return replace(state, stage=Stage.FOLLOWER), ()
    is_idle = state.stage is Stage.FOLLOWER and state.is_eligible and state.is_lock_free
    if not is_idle:
        return state, ()
    try_at_ms = now_ms + state.place * terms.preference_delay_ms
    state = replace(state, stage=Stage.WAITING, try_at_ms=try_at_ms)
    return _ticked(terms, state, now_ms)


def _won(terms: Terms, state: Leadership, event: Won) -> Stepped:
    is_late = event.now_ms >= event.asked_ms + terms.renewed_ms_max
    if state.stage is not Stage.TRYING or not state.is_eligible or is_late:
        return replace(state, stage=Stage.FOLLOWER), (ReleaseLock(event.token),)
    state = replace(
        state,
        stage=Stage.WARMING,
        token=event.token,
        is_lock_free=False,
        renewed_ms=event.asked_ms,
        decide_from_ms=event.now_ms + terms.pull_interval_ms,
    )
    return state, (BeginLeading(event.token), WakeAt(event.asked_ms + terms.renewed_ms_max))


def _renewed(terms: Terms, state: Leadership, asked_ms: int) -> Stepped:
    if not state.holds_lock or asked_ms <= state.renewed_ms:
        return state, ()
    return replace(state, renewed_ms=asked_ms), (WakeAt(asked_ms + terms.renewed_ms_max),)


def _pulled(terms: Terms, state: Leadership, now_ms: int) -> Stepped:
    state, commands = _ticked(terms, state, now_ms)
    if state.stage is Stage.WARMING and now_ms >= state.decide_from_ms:
        state = replace(state, stage=Stage.LEADING)
    return state, commands


def _ticked(terms: Terms, state: Leadership, now_ms: int) -> Stepped:
    if state.stage is Stage.WAITING:
        if now_ms < state.try_at_ms:
            return state, (WakeAt(state.try_at_ms),)
        return replace(state, stage=Stage.TRYING), (TryLock(),)
    if state.holds_lock and now_ms >= state.renewed_ms + terms.renewed_ms_max:
        return replace(state, stage=Stage.FOLLOWER, token=0), (EndLeading(),)
    return state, ()


def _resigned(state: Leadership) -> Stepped:
    """Give up at once; a lock that is being asked for is given back when it comes."""
    if state.holds_lock:
        commands = (EndLeading(), ReleaseLock(state.token))
        return replace(state, stage=Stage.FOLLOWER, token=0), commands
    if state.stage is Stage.WAITING:
        return replace(state, stage=Stage.FOLLOWER), ()
    return state, ()
