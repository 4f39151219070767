"""What has to hold of every run, found out from the placements alone: whoever made them is not asked.

The cluster is filled once more, pod by pod. Nothing may go below zero or above what is there, a pod gets
what it asks for, and one that was refused must not have fit; the sums that the run tells must come out.
"""

from collections.abc import Iterator

import numpy as np

from springtide.engine.trace import Run, Workload
from springtide.model.columns import Int64
from springtide.model.trace import GPU_MILLI, TracePod

SLOTS = 1001
"""Pods that a node takes."""
UNLIMITED = 1 << 30
ROUNDING = 1e-6


def violation(workload: Workload, run: Run, *, pods_a_gpu: int = UNLIMITED) -> str | None:
    """Return the first thing that does not hold, None if all does.

    A GPU may be given to so many pods at most.
    """
    return next(_violations(workload, run, pods_a_gpu), None)


def _violations(workload: Workload, run: Run, pods_a_gpu: int) -> Iterator[str]:
    pods = [workload.pods[index] for index in workload.arrivals.tolist()]
    if len(pods) != run.arrived:
        yield f"{len(pods):,} pods came, {run.arrived:,} were placed or failed"
        return
    room = _Room(workload, pods_a_gpu)
    arrived_milli = used_milli = 0
    for number, (pod, row) in enumerate(zip(pods, run.nodes.tolist(), strict=True)):
        arrived_milli += pod.gpus * pod.gpu_milli
        if row >= 0:
            used_milli += pod.gpus * pod.gpu_milli
            told = room.taken(pod, row, run.devices[number])
        else:
            told = room.refused(pod)
        if told:
            yield f"arrival {number:,}, pod {pod.name}: {told}"
        if (run.arrived_milli[number], run.used_milli[number]) != (arrived_milli, used_milli):
            yield f"arrival {number:,}: the GPU milli that arrived or are used are miscounted"
    yield from _fragments(run)
    yield from _at_the_end(run, room, used_milli)


def _fragments(run: Run) -> Iterator[str]:
    """Yield where more is a fragment than is idle; labels that add up to what is idle prevent it."""
    slack = ROUNDING * run.capacity.gpu_milli
    idle_milli = run.capacity.gpu_milli - run.used_milli
    is_wrong = (run.frag_milli < -slack) | (run.frag_milli > idle_milli + slack)
    for number in np.flatnonzero(is_wrong).tolist():
        frag, idle = run.frag_milli[number], idle_milli[number]
        yield f"arrival {number:,}: of {idle:,} idle milli {frag:,.1f} are a fragment"


def _at_the_end(run: Run, room: "_Room", used_milli: int) -> Iterator[str]:
    idle_milli = run.capacity.gpu_milli - used_milli
    if abs(sum(run.labels.values()) - idle_milli) > ROUNDING * run.capacity.gpu_milli:
        yield f"the labels add up to {sum(run.labels.values()):,.1f}, {idle_milli:,} milli are idle"
    if sum(run.failed_by_class.values()) != run.failed:
        yield f"{run.failed:,} pods failed, the classes add up to another number"
    if (run.cpu_used_milli, run.memory_used_mib) != room.used():
        yield "the CPU or memory in use is miscounted"
    if run.gpus_touched != room.touched():
        yield f"{room.touched():,} GPUs hold something, {run.gpus_touched:,} are told"


class _Room:
    """What is left on every node, in plain columns."""

    def __init__(self, workload: Workload, pods_a_gpu: int) -> None:
        nodes = workload.nodes
        width = max((node.gpus for node in nodes), default=0)
        self.models = np.array([node.model for node in nodes])
        self.cpu_milli = np.array([node.cpu_milli for node in nodes], np.int64)
        self.memory_mib = np.array([node.memory_mib for node in nodes], np.int64)
        self.slots = np.full(len(nodes), SLOTS, np.int64)
        gpus = np.array([node.gpus for node in nodes], np.int64)
        self.has = np.arange(width) < gpus[:, None]
        self.gpu_milli: Int64 = np.where(self.has, GPU_MILLI, 0)
        self.gpu_slots: Int64 = np.where(self.has, pods_a_gpu, 0)
        self._whole = (int(self.cpu_milli.sum()), int(self.memory_mib.sum()))

    def taken(self, pod: TracePod, row: int, devices: tuple[int, ...]) -> str:
        """Place the pod there, and return what is wrong with that."""
        if len(set(devices)) != pod.gpus:
            return f"it asks for {pod.gpus} GPUs and has {list(devices)}"
        if any(not self.has[row, device] for device in devices):
            return f"it has GPUs {list(devices)}, of which the node lacks some"
        if pod.gpus and pod.models and self.models[row] not in pod.models:
            return f"it takes no {self.models[row]}"
        self.cpu_milli[row] -= pod.cpu_milli
        self.memory_mib[row] -= pod.memory_mib
        self.slots[row] -= 1
        self.gpu_milli[row, list(devices)] -= pod.gpu_milli
        self.gpu_slots[row, list(devices)] -= 1
        if min(self.cpu_milli[row], self.memory_mib[row], self.slots[row]) < 0:
            return "its node holds more CPU, memory or pods than it has"
        least = min(self.gpu_milli[row].min(initial=0), self.gpu_slots[row].min(initial=0))
        return "" if least >= 0 else "its GPU holds more than a whole one, or too many pods"

    def refused(self, pod: TracePod) -> str:
        """Return where a pod would have fit that was refused."""
        fits = (self.cpu_milli >= pod.cpu_milli) & (self.memory_mib >= pod.memory_mib)
        fits &= self.slots > 0
        if pod.gpus:
            is_free = (self.gpu_milli >= pod.gpu_milli) & (self.gpu_slots > 0)
            fits &= is_free.sum(axis=1) >= pod.gpus
            if pod.models:
                fits &= np.isin(self.models, pod.models)
        rows = np.flatnonzero(fits)
        return f"it was refused, and fits the node of rank {rows[0]}" if len(rows) else ""

    def used(self) -> tuple[int, int]:
        """Return how much CPU and memory is in use."""
        cpu_milli, memory_mib = self._whole
        return cpu_milli - int(self.cpu_milli.sum()), memory_mib - int(self.memory_mib.sum())

    def touched(self) -> int:
        """Return how many GPUs hold something."""
        return int((self.has & (self.gpu_milli < GPU_MILLI)).sum())
