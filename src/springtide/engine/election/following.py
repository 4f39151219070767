"""Leading beside a kube-scheduler: whoever stands on the host of its leader leads, too.

As HAMi's scheduler has it: the holder of the lease begins with our host's name, and the lease was seen to
change less than its duration ago. Unlike there, the name must be whole: `hami-1` does not lead with
`hami-10_…`. Nothing is ever written.
"""

from typing import assert_never

import msgspec
from msgspec.structs import replace

from springtide.engine.election.messages import (
    Command,
    LeaseSeen,
    Led,
    Lost,
    Tick,
    WakeAt,
)
from springtide.model.lease import Lease

Commands = tuple[Command, ...]
_AFTER_HOST = "_"
"""client-go's identities are a host's name, this, and something unique."""


class Beside(msgspec.Struct, frozen=True, kw_only=True):
    """The lease as last seen, and since when it is so."""

    host: str
    seen: Lease | None = None
    seen_s: float = 0.0
    leads: bool = False

    @property
    def ends_s(self) -> float:
        """Return when the lease runs out, unless it is renewed."""
        return self.seen_s + (self.seen.duration_s if self.seen else 0)

    def is_leading(self, now_s: float) -> bool:
        """Return whether what only a leader does may be done now."""
        if self.seen is None or now_s >= self.ends_s:
            return False
        holder = self.seen.holder
        return holder == self.host or holder.startswith(f"{self.host}{_AFTER_HOST}")


def step(state: Beside, event: LeaseSeen | Tick) -> tuple[Beside, Commands]:
    """Fold what a watch shows, or the time, into the state; say if we lead from now on."""
    match event:
        case LeaseSeen(lease, now_s):
            if lease != state.seen:
                state = replace(state, seen=lease, seen_s=now_s)
        case Tick(now_s):
            pass
        case _:
            assert_never(event)
    leads = state.is_leading(now_s)
    changed = () if leads == state.leads else (_changed(state, leads=leads),)
    wake = (WakeAt(state.ends_s),) if leads else ()
    return replace(state, leads=leads), (*changed, *wake)


def _changed(state: Beside, *, leads: bool) -> Command:
    lease = state.seen
    if leads:
        return Led(lease.transitions if lease else 0)
    if lease is None:
        return Lost("No longer the leader: the lease of kube-scheduler was deleted.")
    if lease.holder.startswith(f"{state.host}{_AFTER_HOST}"):
        return Lost("No longer the leader: kube-scheduler has not renewed its lease.")
    return Lost(f"No longer the leader: {lease.holder or 'nobody'} holds kube-scheduler's lease.")
