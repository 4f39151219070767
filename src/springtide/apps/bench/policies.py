"""The table of policies: the names people type, and what starts a replay under each.

A new one is one line here and its name in `cli.bench_words`; a test holds the two together.
"""

from collections.abc import Callable, Mapping
from typing import Final, Protocol

from springtide.apps.bench.live import shipped
from springtide.base.clock import Rng
from springtide.engine.trace import Placed, Policy, Replay, Run, Workload
from springtide.policies.published import PUBLISHED
from springtide.policies.published.hami import SLOTS


class Started(Protocol):
    """A replay that is under way."""

    def place(self) -> Placed:
        """Place the next pod that comes."""
        ...

    def run(self) -> Run:
        """Return what the replay has come to."""
        ...


Start = Callable[[Workload, Rng], Started]
"""Starts a replay on the empty cluster of a workload."""


def _scored(policy: Policy) -> Start:
    def started(workload: Workload, rng: Rng) -> Started:
        return Replay(workload, policy, rng=rng)

    return started


POLICIES: Final[Mapping[str, Start]] = {
    "prod": shipped,
    **{name: _scored(policy) for name, policy in PUBLISHED.items()},
}

LIVE: Final = frozenset({"prod"})
"""Policies that run through the path of the live scheduler, and not on the engine for traces."""
PODS_A_GPU: Final[Mapping[str, int]] = {
    name: SLOTS for name in POLICIES if name.startswith("hami-")
}
"""Policies that give a GPU to so many pods at most: they refuse what would fit by amounts."""
