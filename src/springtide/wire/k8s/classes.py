"""What admission takes from the classes that a pod names: its priority, and its runtime's overhead.

A stored pod has all of it in its own fields. A manifest has only the names, so that whoever plans
with it needs the classes too; a class that is not in the input adds nothing.
"""

from typing import Final, NamedTuple

from msgspec.structs import replace

from springtide.base.taints import Toleration
from springtide.model.pod import PodSpec
from springtide.model.resources import Resources
from springtide.wire.k8s import schema
from springtide.wire.k8s.parts import Parts

NEVER: Final = "Never"


class Named(NamedTuple):
    """The classes that a pod spec names; empty where it names none."""

    priority: str
    runtime: str


class Priority(NamedTuple):
    """What a priority class gives its pods."""

    value: int
    may_preempt: bool = True


class Runtime(NamedTuple):
    """What a runtime class adds to its pods."""

    overhead: Resources
    node_selector: tuple[tuple[str, str], ...]
    tolerations: tuple[Toleration, ...]


BUILT_IN: Final = {
    "system-cluster-critical": Priority(2_000_000_000),
    "system-node-critical": Priority(2_000_001_000),
}


def named(read: schema.PodSpec) -> Named:
    """Return the classes that a spec names."""
    return Named(read.priority_class_name, read.runtime_class_name)


class Classes:
    """The classes of an input, which may come after the pods that name them."""

    def __init__(self) -> None:
        self._priorities: dict[str, Priority] = {}
        self._default_priority = Priority(0)
        self._runtimes: dict[str, Runtime] = {}
        self._admitted: dict[tuple[PodSpec, Named], PodSpec] = {}

    def add_priority(self, read: schema.PriorityClass) -> bool:
        """Take a priority class, and return whether it is the first of its name."""
        is_new = read.metadata.name not in self._priorities
        priority = Priority(read.value, read.preemption_policy != NEVER)
        self._priorities.setdefault(read.metadata.name, priority)
        if read.global_default and is_new:
            self._default_priority = priority
        return is_new

    def add_runtime(self, read: schema.RuntimeClass, parts: Parts) -> bool:
        """Take a runtime class, and return whether it is the first; raises MalformedObject."""
        is_new = read.metadata.name not in self._runtimes
        runtime = Runtime(
            overhead=parts.quantities(read.overhead.pod_fixed, "overhead.podFixed"),
            node_selector=tuple(sorted(read.scheduling.node_selector.items())),
            tolerations=read.scheduling.tolerations,
        )
        self._runtimes.setdefault(read.metadata.name, runtime)
        return is_new

    def admitted(self, spec: PodSpec, names: Named) -> PodSpec:
        """Return a manifest's spec with what its classes add; equal ones are one object."""
        key = (spec, names)
        found = self._admitted.get(key)
        if found is None:
            found = self._admitted[key] = self._filled(spec, names)
        return found

    def _filled(self, spec: PodSpec, names: Named) -> PodSpec:
        own = Priority(spec.priority) if spec.priority else self._default_priority
        priority = self._priorities.get(names.priority, BUILT_IN.get(names.priority, own))
        may_preempt = spec.may_preempt and priority.may_preempt
        if (priority.value, may_preempt) != (spec.priority, spec.may_preempt):
            spec = replace(spec, priority=priority.value, may_preempt=may_preempt)
        runtime = self._runtimes.get(names.runtime)
        return spec if runtime is None else _running(spec, runtime)


def _running(spec: PodSpec, runtime: Runtime) -> PodSpec:
    selector = {**dict(runtime.node_selector), **dict(spec.node_selector)}
    added = tuple(each for each in runtime.tolerations if each not in spec.tolerations)
    return replace(
        spec,
        overhead=spec.overhead or runtime.overhead,
        node_selector=tuple(sorted(selector.items())),
        tolerations=spec.tolerations + added,
    )
