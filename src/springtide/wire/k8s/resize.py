"""What a pod's status tells about an in-place resize, KEP-1287 and KEP-5419.

Kubelets report resources for every running container, nearly always those of the spec. Where all
reports repeat the spec and nothing is infeasible they decide nothing, and there is no record.
"""

from collections.abc import Hashable
from typing import Final

from msgspec import Raw

from springtide.model.pod import Container, ContainerResize, PodSpec, Resize
from springtide.model.resources import Resources
from springtide.wire.k8s import schema
from springtide.wire.k8s.parts import Parts, is_given

RESIZE_PENDING: Final = "PodResizePending"
INFEASIBLE: Final = "Infeasible"


def to_resize(status: schema.PodStatus, spec: PodSpec, parts: Parts) -> Resize | None:
    """Return what the status reports beyond the spec, None if that is nothing."""
    is_infeasible = _is_infeasible(status.conditions)
    key = (
        spec,
        _key(status.container_statuses),
        _key(status.init_container_statuses),
        bytes(status.allocated_resources),
        bytes(status.resources),
        is_infeasible,
    )
    return parts.resize(key, lambda: _resize(status, spec, parts, is_infeasible=is_infeasible))


def _key(statuses: tuple[schema.ContainerStatus, ...]) -> Hashable:
    return tuple(
        [(each.name, bytes(each.allocated_resources), bytes(each.resources)) for each in statuses]
    )


def _resize(
    status: schema.PodStatus, spec: PodSpec, parts: Parts, *, is_infeasible: bool
) -> Resize | None:
    reports = _reports(status.container_statuses, parts, "status.containerStatuses")
    reports += _reports(status.init_container_statuses, parts, "status.initContainerStatuses")
    allocated = _allocated(status.allocated_resources, parts, "status.allocatedResources")
    actuated, _ = parts.requirements(status.resources, "status.resources")
    is_silent = allocated is None and actuated is None and not is_infeasible
    if is_silent and all(_repeats(report, spec) for report in reports):
        return None
    return Resize(
        containers=tuple(reports),
        allocated=allocated,
        actuated=actuated,
        is_infeasible=is_infeasible,
    )


def _allocated(raw: Raw, parts: Parts, path: str) -> Resources | None:
    return parts.quantities(raw, path) if is_given(raw) else None


def _reports(
    statuses: tuple[schema.ContainerStatus, ...], parts: Parts, path: str
) -> list[ContainerResize]:
    reports = []
    for index, status in enumerate(statuses):
        actuated, _ = parts.requirements(status.resources, f"{path}[{index}].resources")
        allocated = _allocated(
            status.allocated_resources, parts, f"{path}[{index}].allocatedResources"
        )
        if actuated is not None or allocated is not None:
            report = ContainerResize(name=status.name, allocated=allocated, actuated=actuated)
            reports.append(report)
    return reports


def _repeats(report: ContainerResize, spec: PodSpec) -> bool:
    # A status of a container that the spec does not have counts nowhere.
    requests = next((each.requests for each in _containers(spec) if each.name == report.name), None)
    return requests is None or all(
        reported is None or reported == requests for reported in (report.allocated, report.actuated)
    )


def _containers(spec: PodSpec) -> tuple[Container, ...]:
    return spec.containers + spec.init_containers


def _is_infeasible(conditions: tuple[schema.Condition, ...]) -> bool:
    # The first condition of the type decides, as in the API's own helper.
    pending = next((each for each in conditions if each.type == RESIZE_PENDING), None)
    return pending is not None and pending.reason == INFEASIBLE
