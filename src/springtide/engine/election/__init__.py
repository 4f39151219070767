"""Who leads: by a lease of our own, or by that of the kube-scheduler that we stand beside.

Both are pure: `standing.step` and `following.step` fold events with the time of our own clock into a
state. Other clocks are never looked at: a lease is as old as the time since we saw it change.
"""

from springtide.engine.election.following import Beside
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
from springtide.engine.election.standing import Standing

__all__ = [
    "Beside",
    "Command",
    "Election",
    "Event",
    "Finished",
    "LeaseRead",
    "LeaseSeen",
    "LeaseUnknown",
    "LeaseWritten",
    "Led",
    "Lost",
    "ReadLease",
    "Standing",
    "Stopped",
    "Tick",
    "WakeAt",
    "WriteLease",
]
