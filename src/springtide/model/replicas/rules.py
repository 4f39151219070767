"""How far and how fast the number of replicas may move, as an operator sets it."""

from typing import Final

import msgspec

REPLICAS_MAX: Final = 2**31 - 1
"""What Kubernetes can hold in `spec.replicas`."""


class Limits(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Steps of zero and a largest number of zero do not limit."""

    step_up_max: int = 0
    step_down_max: int = 0
    replicas_min: int = 0
    replicas_max: int = 0
    allows_zero: bool = False

    @property
    def least(self) -> int:
        """Return the fewest replicas; only older fleets go below one."""
        return max(0 if self.allows_zero else 1, self.replicas_min)

    @property
    def most(self) -> int:
        """Return the most replicas."""
        return self.replicas_max if self.replicas_max > 0 else REPLICAS_MAX


class Schedule(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """How long after each other the three times of a round are, from its decision on."""

    start_delay_ms: int = 0
    period_ms: int = 0
    scaling_delay_ms: int = 0
