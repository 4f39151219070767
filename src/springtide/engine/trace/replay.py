"""Replays: the pods of a workload come one by one, and a policy finds each a place.

`Replay.place` is one decision, so that a caller can time it; `replayed` makes them all. A pod that fits
nowhere at its turn has failed: there is no queue.
"""

from typing import NamedTuple

from springtide.base.clock import Rng
from springtide.engine.trace.fragmentation import Fragmentation
from springtide.engine.trace.measuring import measured
from springtide.engine.trace.policy import Policy, Setting
from springtide.engine.trace.run import NOWHERE, Run
from springtide.engine.trace.shape import shape_of
from springtide.engine.trace.state import State
from springtide.engine.trace.tables import REFUSED, Tables
from springtide.engine.trace.workload import Workload


class Placed(NamedTuple):
    """Where a pod went: its row, -1 for nowhere, and the indices of its GPUs."""

    row: int
    devices: tuple[int, ...]


FAILED = Placed(NOWHERE, ())


class Replay:
    """One workload under one policy, from the empty cluster on.

    A measure of fragmentation may be given, made of the same typical pods, to keep what it remembers
    over several replays.
    """

    def __init__(
        self,
        workload: Workload,
        policy: Policy,
        *,
        rng: Rng,
        fragmentation: Fragmentation | None = None,
    ) -> None:
        self._workload = workload
        self._fragmentation = fragmentation or Fragmentation(workload.typical)
        self._shapes = [shape_of(pod) for pod in workload.pods]
        self._arrivals = workload.arrivals.tolist()
        self.state = State(workload.nodes)
        self._placing = policy(
            Setting(state=self.state, fragmentation=self._fragmentation, rng=rng)
        )
        self._tables = Tables(self.state, self._placing)
        self.placed: list[Placed] = []

    def place(self) -> Placed:
        """Place the next pod that comes."""
        shape = self._shapes[self._arrivals[len(self.placed)]]
        scores = self._tables.scores(shape)
        row = self._placing.chosen(scores)
        found = FAILED
        if scores[row] != REFUSED:
            found = Placed(row, self._placing.devices(shape, row))
            self.state.take(row, shape, found.devices)
            self._placing.moved(row)
        self.placed.append(found)
        return found

    def run(self) -> Run:
        """Return what the replay has come to."""
        return measured(self._workload, self.placed, fragmentation=self._fragmentation)


def replayed(
    workload: Workload, policy: Policy, *, rng: Rng, fragmentation: Fragmentation | None = None
) -> Run:
    """Return what a policy makes of a workload."""
    replay = Replay(workload, policy, rng=rng, fragmentation=fragmentation)
    for _ in range(len(workload.arrivals)):
        replay.place()
    return replay.run()
