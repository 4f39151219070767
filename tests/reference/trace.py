"""Replays of a trace as plain as the published rules read: every node is asked anew for every pod.

This is what the incremental replay is compared with. Sums run label by label over the typical pods, as
the rules demand, because last digits decide some ties; shares of HAMi are exact fractions.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from springtide.base.clock import Rng
from springtide.engine.trace.typical import TypicalPod
from springtide.model.trace import TraceNode, TracePod

LABELS = ("q1", "q2", "q3", "q4", "xl", "xr", "no_access")


class Machine:
    """A node and what runs on it: pods with the GPUs that they have."""

    def __init__(self, node: TraceNode) -> None:
        self.node = node
        self.pods: list[tuple[TracePod, tuple[int, ...]]] = []

    @property
    def cpu(self) -> int:
        return self.node.cpu_milli - sum(pod.cpu_milli for pod, _ in self.pods)

    @property
    def memory(self) -> int:
        return self.node.memory_mib - sum(pod.memory_mib for pod, _ in self.pods)

    @property
    def gpus(self) -> list[int]:
        return [
            1000 - sum(pod.gpu_milli for pod, on in self.pods if index in on)
            for index in range(self.node.gpus)
        ]

    def slots(self, index: int) -> int:
        return sum(index in on for _, on in self.pods)

    def fits(self, pod: TracePod) -> bool:
        if self.cpu < pod.cpu_milli or self.memory < pod.memory_mib or len(self.pods) >= 1001:
            return False
        if not pod.gpus:
            return True
        if pod.models and self.node.model not in pod.models:
            return False
        return sum(free >= pod.gpu_milli for free in self.gpus) >= pod.gpus


class World:
    """Machines by rank, what is typical, and chance."""

    def __init__(self, nodes: Sequence[TraceNode], typical: Sequence[TypicalPod], rng: Rng) -> None:
        self.machines = [Machine(node) for node in nodes]
        self.typical = typical
        self.rng = rng

    def place(self, pod: TracePod, policy: str) -> tuple[int, tuple[int, ...]]:
        """Place a pod and return the rank of its node, or -1, and its GPUs."""
        fits = "hami" if policy.startswith("hami") else ""
        rows = [
            row
            for row, machine in enumerate(self.machines)
            if machine.fits(pod) and (not fits or len(with_slots(machine, pod)) >= pod.gpus)
        ]
        if not rows:
            return -1, ()
        if policy == "random":
            row = rows[self.rng.choice_index(len(rows))]
        else:
            marks = {row: NODE_SCORES[policy](self, self.machines[row], pod) for row in rows}
            if policy == "bestfit":
                marks = stretched(marks)
            row = max(rows, key=lambda each: (marks[each], -each))
        devices = self.devices(self.machines[row], pod, policy)
        self.machines[row].pods.append((pod, devices))
        return row, devices

    def devices(self, machine: Machine, pod: TracePod, policy: str) -> tuple[int, ...]:
        fitting = [index for index, free in enumerate(machine.gpus) if free >= pod.gpu_milli]
        if pod.gpus != 1 or pod.gpu_milli == 1000:
            return tuple(fitting[: pod.gpus])
        if policy == "random":
            return (fitting[self.rng.choice_index(len(fitting))],)
        if policy == "fgd":
            return (max(fitting, key=lambda index: (self.worth(machine, pod, [index]), -index)),)
        if policy.startswith("hami"):
            sign = 1 if policy == "hami-binpack" else -1
            shares = {index: device_share(machine, pod, index) for index in fitting}
            with_slot = with_slots(machine, pod)
            return (max(with_slot, key=lambda index: (sign * shares[index], -index)),)
        return (min(fitting, key=lambda index: (machine.gpus[index], index)),)

    def worth(self, machine: Machine, pod: TracePod, devices: Sequence[int]) -> int:
        """Return what placing the pod on these GPUs does to fragmentation, from 0 to 100."""
        before = self.fragment(machine.node.model, machine.cpu, machine.gpus)
        gpus = list(machine.gpus)
        for index in devices:
            gpus[index] -= pod.gpu_milli
        after = self.fragment(machine.node.model, machine.cpu - pod.cpu_milli, gpus)
        return int(100 / (1 + math.exp(-(before - after) / 1000)))

    def fragment(self, model: str, cpu: int, gpus: Sequence[int]) -> float:
        labels = self.labels(model, cpu, gpus)
        return sum((labels[label] for label in LABELS if label != "q3"), 0.0)

    def labels(self, model: str, cpu: int, gpus: Sequence[int]) -> dict[str, float]:
        labels = dict.fromkeys(LABELS, 0.0)
        for pod in self.typical:
            has_cpu = cpu >= pod.cpu_milli
            has_gpus = sum(free >= pod.gpu_milli for free in gpus) >= pod.gpus
            if not pod.gpus:
                label = "xl" if has_cpu else "xr"
            elif pod.models and model not in pod.models:
                label = "no_access"
            elif has_gpus and has_cpu:
                small = sum(free for free in gpus if free < pod.gpu_milli)
                labels["q2"] += pod.share * small
                labels["q3"] += pod.share * (sum(gpus) - small)
                continue
            elif has_gpus:
                label = "q4"
            else:
                label = "q2" if has_cpu else "q1"
            labels[label] += pod.share * sum(gpus)
        return labels

    def cluster_labels(self) -> dict[str, float]:
        """Return what the idle GPUs of all machines are."""
        each = [self.labels(m.node.model, m.cpu, m.gpus) for m in self.machines]
        return {label: math.fsum(labels[label] for labels in each) for label in LABELS}


Mark = float | Fraction


def stretched(marks: dict[int, Mark]) -> dict[int, Mark]:
    least, most = min(marks.values()), max(marks.values())
    if least == most:
        return dict.fromkeys(marks, 0)
    return {row: (mark - least) * 100 // (most - least) for row, mark in marks.items()}


def bestfit(_: World, machine: Machine, pod: TracePod) -> int:
    cpu = (machine.cpu - pod.cpu_milli) / 128000
    gpu = (sum(machine.gpus) - pod.gpu_milli * pod.gpus) / 8000
    return int(100 * (1 - 0.5 * cpu - 0.5 * gpu))


def dotprod(_: World, machine: Machine, pod: TracePod) -> int:
    cpu = machine.cpu / 128000 * (pod.cpu_milli / 128000)
    gpu = sum(machine.gpus) / 8000 * (pod.gpu_milli * pod.gpus / 8000)
    return int(100 * (1 - (cpu + gpu) / 2))


def gpu_packing(_: World, machine: Machine, pod: TracePod) -> int:
    if not pod.gpus:
        return 0
    if set(machine.gpus) == {1000}:
        return max(33 - machine.node.gpus, machine.node.gpus)
    taken = sorted(free for free in machine.gpus if free >= pod.gpu_milli)[: pod.gpus]
    if 1000 in taken:
        return max(50 - taken.count(1000), 33)
    return max(100 - sum(math.floor(100 * free / 1000) for free in taken) // 10, 50)


def gpu_clustering(_: World, machine: Machine, pod: TracePod) -> int:
    if not pod.gpus:
        return 0
    kinds = {kind(each) for each, _ in machine.pods if each.gpus}
    base = math.floor(25 * (8000 - sum(machine.gpus)) / 8000)
    if not kinds:
        return base + 25
    if kind(pod) not in kinds:
        return base
    return base + (75 if len(kinds) == 1 else 50)


def kind(pod: TracePod) -> tuple[int, bool]:
    return pod.gpus, pod.gpu_milli == 1000


def fgd(world: World, machine: Machine, pod: TracePod) -> int:
    fitting = [index for index, free in enumerate(machine.gpus) if free >= pod.gpu_milli]
    if pod.gpus == 1 and pod.gpu_milli < 1000:
        return max(world.worth(machine, pod, [index]) for index in fitting)
    return world.worth(machine, pod, fitting[: pod.gpus])


def with_slots(machine: Machine, pod: TracePod) -> list[int]:
    return [
        index
        for index, free in enumerate(machine.gpus)
        if free >= pod.gpu_milli and machine.slots(index) < 10
    ]


def share(machine: Machine) -> Fraction:
    gpus = machine.node.gpus
    if not gpus:
        return Fraction(0)
    slots = sum(machine.slots(index) for index in range(gpus))
    used = Fraction(1000 * gpus - sum(machine.gpus), 1000 * gpus)
    return 10 * (Fraction(slots, 10 * gpus) + used + used)


def device_share(machine: Machine, pod: TracePod, index: int) -> Fraction:
    used = Fraction(1000 - machine.gpus[index] + pod.gpu_milli, 1000)
    return 10 * (Fraction(machine.slots(index) + 1, 10) + used + used)


NODE_SCORES: dict[str, Callable[[World, Machine, TracePod], Mark]] = {
    "fgd": fgd,
    "bestfit": bestfit,
    "dotprod": dotprod,
    "gpu-packing": gpu_packing,
    "gpu-clustering": gpu_clustering,
    "first-fit": lambda *_: 0,
    "hami-binpack": lambda _, machine, __: share(machine),
    "hami-default": lambda _, machine, __: share(machine),
    "hami-spread": lambda _, machine, __: -share(machine),
}
