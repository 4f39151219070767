"""Standing for election: take the lease when it is free, renew it, and give it back in the end.

At most one request is on its way. We lead from the moment at which the latest renewal was asked for
that came through, for at most `renewal_s_max`: others begin to wait no sooner than that, and they wait
longer. A clock that stands still while we do breaks this, so whoever acts asks `is_leading` first.
"""

from typing import assert_never

import msgspec
from msgspec.structs import replace

from springtide.engine.election.messages import (
    Command,
    Election,
    Event,
    Finished,
    LeaseRead,
    LeaseSeen,
    LeaseUnknown,
    LeaseWritten,
    Led,
    Lost,
    ReadLease,
    Stopped,
    Tick,
    WakeAt,
    WriteLease,
)
from springtide.model.lease import Lease

RELEASED_S = 1
"""A lease that nobody holds is given no long life."""

Commands = tuple[Command, ...]


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """What a candidate knows: the lease as last seen, and since when nobody changed it.

    `renewed_s` is when the renewal was asked for by which we lead, `asked_s` when that was asked for that
    is on its way. Nothing is done before `next_s`, and then it is read if it `is_doubtful` what the
    server has.
    """

    seen: Lease | None = None
    seen_s: float = 0.0
    renewed_s: float | None = None
    asked_s: float | None = None
    next_s: float = 0.0
    is_doubtful: bool = True
    is_stopping: bool = False
    is_finished: bool = False

    def is_leading(self, election: Election, now_s: float) -> bool:
        """Return whether what only a leader does may be done now."""
        return self.renewed_s is not None and now_s < self.renewed_s + election.renewal_s_max


def step(election: Election, state: Standing, event: Event) -> tuple[Standing, Commands]:
    """Fold one event into the state; say what to do about it."""
    if state.is_finished:
        return state, ()
    state, lost = _expired(election, state, event.now_s)
    state, commands = _folded(election, state, event)
    return state, (*lost, *commands)


def _folded(election: Election, state: Standing, event: Event) -> tuple[Standing, Commands]:
    match event:
        case Tick(now_s):
            return _due(election, state, now_s)
        case LeaseRead(lease, now_s):
            state = _noticed(replace(state, asked_s=None, is_doubtful=False), lease, now_s)
            return _decided(election, state, now_s)
        case LeaseWritten(lease, now_s):
            return _written(election, state, lease, now_s)
        case LeaseUnknown(now_s):
            state = replace(state, asked_s=None, is_doubtful=True)
            return _ended(state) if state.is_stopping else _later(election, state, now_s)
        case LeaseSeen(lease, now_s):
            return _shown(election, state, lease, now_s)
        case Stopped(now_s):
            state, lost = _deposed(replace(state, is_stopping=True), "the process ends")
            state, commands = (
                (state, ()) if state.asked_s is not None else _released(election, state, now_s)
            )
            return state, (*lost, *commands)
        case _:
            assert_never(event)


def _due(election: Election, state: Standing, now_s: float) -> tuple[Standing, Commands]:
    if state.asked_s is not None or state.is_stopping:
        return state, _wake(election, state)
    if now_s < state.next_s:
        return state, _wake(election, state)
    if state.is_doubtful or state.renewed_s is None:
        return replace(state, asked_s=now_s), (ReadLease(election.answer_s_max),)
    return _decided(election, state, now_s)


def _decided(election: Election, state: Standing, now_s: float) -> tuple[Standing, Commands]:
    """Write the lease if it is ours or free, now that it is known."""
    lease = state.seen
    if state.is_stopping:
        return _released(election, state, now_s)
    if lease is not None and lease.holder == election.identity:
        return _asked(election, state, lease, now_s)
    state, lost = _deposed(
        state, f"{lease.holder or 'nobody'} holds the lease" if lease else "it is gone"
    )
    if lease is None or _is_free(election, state, lease, now_s):
        state, commands = _asked(election, state, lease, now_s)
    else:
        state, commands = _later(election, state, now_s)
    return state, (*lost, *commands)


def _asked(
    election: Election, state: Standing, lease: Lease | None, now_s: float
) -> tuple[Standing, Commands]:
    before = lease or Lease(namespace=election.namespace, name=election.name, transitions=-1)
    takes = before.holder != election.identity
    ours = replace(
        before,
        holder=election.identity,
        duration_s=election.duration_s,
        transitions=before.transitions + takes,
    )
    write = WriteLease(lease=ours, takes=takes, within_s=election.answer_s_max)
    state = replace(state, asked_s=now_s)
    return state, (write, *_wake(election, state))


def _written(
    election: Election, state: Standing, lease: Lease, now_s: float
) -> tuple[Standing, Commands]:
    asked_s = state.asked_s
    assert asked_s is not None, "only what was asked for is written"
    state = _noticed(replace(state, asked_s=None, is_doubtful=False), lease, now_s)
    if state.is_stopping:
        return _released(election, state, now_s)
    assert lease.holder == election.identity
    was_leading = state.renewed_s is not None
    renewed = replace(state, renewed_s=asked_s)
    if not renewed.is_leading(election, now_s):
        return _later(election, state, now_s)
    state, commands = _later(election, renewed, now_s)
    return state, commands if was_leading else (Led(lease.transitions), *commands)


def _shown(
    election: Election, state: Standing, lease: Lease | None, now_s: float
) -> tuple[Standing, Commands]:
    """Take notice of what a watch shows; a seat that becomes free is taken at once."""
    if state.asked_s is not None or state.is_stopping or state.renewed_s is not None:
        return state, ()
    state = _noticed(state, lease, now_s)
    is_free = lease is None or not lease.holder
    return _due(election, replace(state, next_s=now_s) if is_free else state, now_s)


def _released(election: Election, state: Standing, now_s: float) -> tuple[Standing, Commands]:
    """Give the lease back if it is ours."""
    lease = state.seen
    if lease is None or lease.holder != election.identity:
        return _ended(state)
    freed = replace(lease, holder="", duration_s=RELEASED_S)
    write = WriteLease(lease=freed, takes=False, within_s=election.answer_s_max)
    return replace(state, asked_s=now_s), (write,)


def _ended(state: Standing) -> tuple[Standing, Commands]:
    return replace(state, is_finished=True), (Finished(),)


def _expired(election: Election, state: Standing, now_s: float) -> tuple[Standing, Commands]:
    if state.renewed_s is None or state.is_leading(election, now_s):
        return state, ()
    return _deposed(state, f"there was no renewal within {election.renewal_s_max:g} s")


def _deposed(state: Standing, why: str) -> tuple[Standing, Commands]:
    if state.renewed_s is None:
        return state, ()
    return replace(state, renewed_s=None, is_doubtful=True), (
        Lost(f"No longer the leader: {why}."),
    )


def _noticed(state: Standing, lease: Lease | None, now_s: float) -> Standing:
    return state if lease == state.seen else replace(state, seen=lease, seen_s=now_s)


def _is_free(election: Election, state: Standing, lease: Lease, now_s: float) -> bool:
    lives_s = lease.duration_s or election.duration_s
    return not lease.holder or now_s >= state.seen_s + lives_s


def _later(election: Election, state: Standing, now_s: float) -> tuple[Standing, Commands]:
    state = replace(state, next_s=now_s + election.retry_s)
    return state, _wake(election, state)


def _wake(election: Election, state: Standing) -> Commands:
    """Wake up for the next try, or to stop leading in time."""
    times_s = [] if state.asked_s is not None or state.is_stopping else [state.next_s]
    if state.renewed_s is not None:
        times_s.append(state.renewed_s + election.renewal_s_max)
    return (WakeAt(min(times_s)),) if times_s else ()
