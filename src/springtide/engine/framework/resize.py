"""What a pod that was resized in place holds on its node.

A resize is in three places at once: wanted (the spec), allocated (the kubelet has agreed) and
actuated (the runtime has done it). The node must be able to carry each of them, so the pod holds
the largest of the three per resource. A resize that the kubelet calls infeasible will not happen,
so then the spec does not count. The rules are those of kube-scheduler 1.37 with its default gates.
"""

from collections.abc import Callable

from springtide.engine.framework.sums import (
    Nanos,
    at_pod_level,
    nanos,
    over_containers,
    raise_to,
)
from springtide.model.pod import Container, ContainerResize, PodSpec, Resize
from springtide.model.resources import Resources

Completion = Callable[[Resources], Resources]


def as_stated(resources: Resources) -> Resources:
    """Return what a container states, and nothing more."""
    return resources


def held_nanos(spec: PodSpec, resize: Resize, complete: Completion = as_stated) -> Nanos:
    """Return what the pod holds, without its overhead; `complete` adds what containers leave out."""
    held = _by_containers(spec, resize, complete)
    if at_pod_level(nanos(spec.requests)):
        held.update(_at_pod_level(spec, resize))
    return held


def _by_containers(spec: PodSpec, resize: Resize, complete: Completion) -> Nanos:
    reports = {report.name: report for report in resize.containers}

    def allocated(container: Container) -> Resources:
        report = reports.get(container.name)
        return complete(_allocated(container, report, is_infeasible=resize.is_infeasible))

    def actuated(container: Container) -> Resources:
        report = reports.get(container.name)
        if report is not None and report.actuated is not None:
            return complete(report.actuated)
        return allocated(container)

    held: Nanos = {}
    if not resize.is_infeasible:
        raise_to(held, over_containers(spec, lambda container: complete(container.requests)))
    if resize.allocated is not None and resize.actuated is not None:
        # The kubelet's reports on the pod as a whole already sum up its containers.
        raise_to(held, nanos(resize.allocated))
        return raise_to(held, nanos(resize.actuated))
    raise_to(held, over_containers(spec, allocated))
    return raise_to(held, over_containers(spec, actuated))


def _allocated(
    container: Container, report: ContainerResize | None, *, is_infeasible: bool
) -> Resources:
    if report is not None and report.allocated is not None:
        return report.allocated
    return () if is_infeasible else container.requests


def _at_pod_level(spec: PodSpec, resize: Resize) -> Nanos:
    stated = nanos(spec.requests)
    # kube-scheduler does not look at the allocation of a pod whose actuated resources are unknown.
    if resize.actuated is None:
        return at_pod_level(stated)
    held = {} if resize.is_infeasible else stated
    raise_to(held, nanos(resize.actuated))
    return at_pod_level(raise_to(held, nanos(resize.allocated or ())))
