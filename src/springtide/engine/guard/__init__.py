"""Whether a number of replicas may be lowered by somebody who is no autoscaler of ours.

An autoscaler keeps away from replicas that hold state because a metric tells it to. People, programs and a
maximum that is lowered are told by nobody; `verdicts` says what they may not, and what they can do about it.
Whatever is not known of a workload keeps it as it is.
"""

from springtide.engine.guard.verdicts import (
    Change,
    GuardReason,
    Protected,
    Unknown,
    verdict,
)

__all__ = ["Change", "GuardReason", "Protected", "Unknown", "verdict"]
