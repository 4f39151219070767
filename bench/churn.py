"""How much of what is asked for finds no place while pods come and go?

Pods of the public trace come at random, so many that they would fill 95 % of all GPUs if each found a
place, and each stays as long as chance has it (exponentially). One that fits nowhere when it comes is
refused. The first lifetimes, in which the cluster fills, do not count. `prod` goes through the live path;
the published policies are those of `springtide.policies.published`.

`python bench/churn.py [TRACE [LOAD [SEEDS]]]` prints the means for one trace and load over several seeds.
"""

import heapq
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.figure import Figure
from springtide.apps.bench.live import LivePath
from springtide.apps.planner.families import SHIPPED, Policies
from springtide.engine.trace import (
    Chance,
    Fragmentation,
    Setting,
    State,
    Stream,
    Workload,
    seeded,
    shape_of,
)
from springtide.engine.trace.tables import REFUSED, Tables
from springtide.model.trace import GPU_MILLI
from springtide.policies.published import PUBLISHED
from tests.traces import openb_nodes, openb_pods

LOAD = 0.95
WARMUP_LIVES = 2
MEASURED_LIVES = 3
RIVALS = ("fgd", "bestfit", "first-fit")


class Placer(Protocol):
    """Something that places pods of a workload and takes them back."""

    def place(self, pod: int, uid: int) -> bool: ...

    def leave(self, uid: int) -> None: ...


class Outcome(NamedTuple):
    """What is refused of all that is asked of GPUs, and what is allocated on average, in per cent."""

    refused_pct: float
    allocated_pct: float


class Published:
    """A published policy on a cluster that pods leave."""

    def __init__(self, found: Workload, name: str, seed: int) -> None:
        self._shapes = [shape_of(pod) for pod in found.pods]
        self._state = State(found.nodes)
        measure, rng = Fragmentation(found.typical), Chance(seed, Stream.POLICY)
        self._placing = PUBLISHED[name](Setting(state=self._state, fragmentation=measure, rng=rng))
        self._tables = Tables(self._state, self._placing)
        self._held: dict[int, tuple[int, int, tuple[int, ...]]] = {}

    def place(self, pod: int, uid: int) -> bool:
        """Place a pod of the list, if it fits."""
        shape = self._shapes[pod]
        scores = self._tables.scores(shape)
        row = self._placing.chosen(scores)
        if scores[row] == REFUSED:
            return False
        devices = self._placing.devices(shape, row)
        self._state.take(row, shape, devices)
        self._placing.moved(row)
        self._held[uid] = (pod, row, devices)
        return True

    def leave(self, uid: int) -> None:
        """Take a pod off its node."""
        pod, row, devices = self._held.pop(uid)
        shape, state = self._shapes[pod], self._state
        state.cpu_free[row] += shape.cpu_milli
        state.memory_free[row] += shape.memory_mib
        state.slots_free[row] += 1
        for device in devices:
            state.gpus_free[row][device] += shape.gpu_milli
            state.pods_on[row][device] -= 1
        state.largest_free[row] = max(state.gpus_free[row], default=0)
        state.idle[row] = state.gpus_free[row].count(GPU_MILLI)
        state.total_free[row] += shape.total_milli
        state.log.append(row)
        self._placing.moved(row)


def measure() -> Iterator[Figure]:
    """Yield what each policy refuses on the default list."""
    for name in ("prod", *RIVALS):
        found = churned("default", name, seed=42, load=LOAD)
        how = f"{found.allocated_pct:.2f} % of all GPUs allocated, at a load of {LOAD:.0%}"
        yield Figure(name, found.refused_pct, "% refused", how)


def churned(trace: str, name: str, *, seed: int, load: float) -> Outcome:
    """Return what becomes of a stream of pods under a policy."""
    found = seeded(openb_nodes(), openb_pods(trace), seed=seed, tune=0)
    path: Placer
    if name == "prod":
        path = LivePath(found, SHIPPED)
    elif name == "default":
        path = LivePath(found, Policies())
    else:
        path = Published(found, name, seed)
    return _streamed(found, path, seed=seed, load=load)


def _streamed(found: Workload, path: Placer, *, seed: int, load: float) -> Outcome:
    rng = np.random.default_rng(seed)
    milli = np.array([pod.gpus * pod.gpu_milli for pod in found.pods])
    rate = load * found.capacity.gpu_milli / milli.mean()
    count = int(rate * (WARMUP_LIVES + MEASURED_LIVES))
    comes = np.cumsum(rng.exponential(1 / rate, count)).tolist()
    stays = rng.exponential(1, count).tolist()
    pods = rng.integers(len(milli), size=count).tolist()
    leaving: list[tuple[float, int]] = []
    used = asked = refused = 0
    held, now = 0.0, float(WARMUP_LIVES)
    for uid, (time, stay, pod) in enumerate(zip(comes, stays, pods, strict=True)):
        while leaving and leaving[0][0] <= time:
            left_at, gone = heapq.heappop(leaving)
            held, now = held + used * max(left_at - now, 0), max(now, left_at)
            used -= int(milli[pods[gone]])
            path.leave(gone)
        held, now = held + used * max(time - now, 0), max(now, time)
        is_placed = path.place(pod, uid)
        if is_placed:
            used += int(milli[pod])
            heapq.heappush(leaving, (time + stay, uid))
        if time > WARMUP_LIVES:
            asked += int(milli[pod])
            refused += 0 if is_placed else int(milli[pod])
    lives = max(now - WARMUP_LIVES, 1e-9)
    return Outcome(100 * refused / asked, 100 * held / lives / found.capacity.gpu_milli)


def main(words: list[str]) -> None:
    """Print the means of several seeds for one trace and load."""
    trace, load, seeds = [*words, *("default", "0.95", "42-44")[len(words) :]]
    first, last = map(int, seeds.split("-"))
    for name in ("prod", "default", *RIVALS):
        found = [
            churned(trace, name, seed=seed, load=float(load)) for seed in range(first, last + 1)
        ]
        refused, allocated = np.mean(found, axis=0)
        print(f"{trace} {load} {name:10s} refused {refused:6.3f} % allocated {allocated:6.2f} %")


if __name__ == "__main__":
    main(sys.argv[1:])
