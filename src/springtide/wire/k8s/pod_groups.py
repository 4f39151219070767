"""Objects that say which pods must start together, as far as a plan reads them.

`PodGroup` of scheduling.x-k8s.io, of scheduling.volcano.sh and of scheduling.k8s.io, and the groups
that a `Workload` of scheduling.k8s.io/v1alpha1 has inside. The three kinds share a name, so one
record takes the fields of all, and the API says which of them count.
"""

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from springtide.model import gang
from springtide.model.gang import GangApi
from springtide.wire.errors import MalformedObject
from springtide.wire.k8s.gang_links import inline_name
from springtide.wire.k8s.pods import DEFAULT_NAMESPACE
from springtide.wire.k8s.schema import Metadata, Read

APIS: Final = ("scheduling.k8s.io", "scheduling.x-k8s.io", "scheduling.volcano.sh")
ONE_POLICY: Final = "give exactly one of basic and gang."


class GangPolicy(Read, frozen=True):
    """That pods start together, and how many of them at least."""

    min_count: int | None = None


class SchedulingPolicy(Read, frozen=True):
    """How the pods of a group are scheduled: one by one, or together."""

    basic: dict[str, Any] | None = None
    gang: GangPolicy | None = None


class PodGroupSpec(Read, frozen=True):
    """What the three APIs say of a group; each has its own of these fields."""

    min_member: int | None = None
    min_task_member: dict[str, int] = msgspec.field(default_factory=dict)
    network_topology: dict[str, Any] = msgspec.field(default_factory=dict)
    sub_group_policy: tuple[dict[str, Any], ...] = ()
    scheduling_policy: SchedulingPolicy | None = None
    scheduling_constraints: dict[str, Any] = msgspec.field(default_factory=dict)
    parent_composite_pod_group_name: str = ""


class PodGroup(Read, frozen=True, tag="PodGroup", tag_field="kind"):
    """A pod group."""

    api_version: str = ""
    metadata: Metadata = Metadata()
    spec: PodGroupSpec = PodGroupSpec()


class InlineGroup(Read, frozen=True):
    """A group inside a workload."""

    name: str = ""
    policy: SchedulingPolicy | None = None


class WorkloadSpec(Read, frozen=True):
    """The groups of a workload; templates of groups are not among them."""

    pod_groups: tuple[InlineGroup, ...] = ()


class Workload(Read, frozen=True, tag="Workload", tag_field="kind"):
    """A workload."""

    api_version: str = ""
    metadata: Metadata = Metadata()
    spec: WorkloadSpec = WorkloadSpec()


GangObject = PodGroup | Workload


class GangReading:
    """The groups read so far."""

    def __init__(self) -> None:
        self._groups: dict[tuple[str, str, str], gang.PodGroup] = {}
        self._workloads: set[tuple[str, str]] = set()

    @property
    def groups(self) -> tuple[gang.PodGroup, ...]:
        """Return all groups."""
        return tuple(self._groups.values())

    def keep(self, read: GangObject) -> bool:
        """Keep an object, and return whether it is the first of its name; raises MalformedObject."""
        if not read.metadata.name:
            raise MalformedObject("metadata.name", "the object has no name; give it one.")
        if isinstance(read, Workload):
            return self._keep_workload(read)
        group = to_pod_group(read)
        key = (group.api, group.namespace, group.name)
        return self._groups.setdefault(key, group) is group

    def _keep_workload(self, read: Workload) -> bool:
        key = (_namespace(read.metadata), read.metadata.name)
        if key in self._workloads:
            return False
        groups = list(_inline_groups(read))
        self._workloads.add(key)
        for group in groups:
            self._groups.setdefault((group.api, group.namespace, group.name), group)
        return True


def to_pod_group(read: PodGroup) -> gang.PodGroup:
    """Return the model record of a pod group, or raise MalformedObject."""
    spec, minimum, tasks = read.spec, None, dict[str, int]()
    if not read.api_version:
        raise MalformedObject("apiVersion", f"it is missing; give one of {', '.join(APIS)}.")
    api = GangApi(read.api_version.rpartition("/")[0])
    match api:
        case GangApi.WORKLOAD:
            minimum = _policy_minimum(spec.scheduling_policy, "spec.schedulingPolicy")
        case GangApi.VOLCANO:
            minimum = _minimum(spec.min_member, "spec.minMember")
            tasks = {
                name: _at_least(0, count, f'spec.minTaskMember["{name}"]')
                for name, count in spec.min_task_member.items()
            }
        case _:
            minimum = _minimum(spec.min_member, "spec.minMember")
    return gang.PodGroup(
        api=api,
        namespace=_namespace(read.metadata),
        name=read.metadata.name,
        minimum=minimum,
        task_minimums=tuple((name, count) for name, count in sorted(tasks.items()) if count),
        unread=tuple(_unread(spec, api)),
    )


def _inline_groups(read: Workload) -> Iterator[gang.PodGroup]:
    for index, each in enumerate(read.spec.pod_groups):
        path = f"spec.podGroups[{index}]"
        if not each.name:
            raise MalformedObject(f"{path}.name", "the group has no name; give it one.")
        yield gang.PodGroup(
            api=GangApi.WORKLOAD,
            namespace=_namespace(read.metadata),
            name=inline_name(read.metadata.name, each.name),
            minimum=_policy_minimum(each.policy, f"{path}.policy"),
            kind="Workload",
        )


def _policy_minimum(policy: SchedulingPolicy | None, path: str) -> int | None:
    if policy is None or (policy.basic is None) == (policy.gang is None):
        raise MalformedObject(path, ONE_POLICY)
    if policy.gang is None:
        return None
    count = policy.gang.min_count
    if count is None:
        raise MalformedObject(f"{path}.gang.minCount", "it is missing; give 1 or more.")
    return _at_least(1, count, f"{path}.gang.minCount")


def _minimum(count: int | None, path: str) -> int | None:
    return _at_least(0, count or 0, path) or None


def _at_least(least: int, count: int, path: str) -> int:
    if count < least:
        raise MalformedObject(path, f"{count} pods cannot be the minimum; give {least} or more.")
    return count


def _unread(spec: PodGroupSpec, api: GangApi) -> Iterator[str]:
    if api is GangApi.VOLCANO:
        if spec.network_topology.get("mode", "hard") == "hard" and spec.network_topology:
            yield "spec.networkTopology"
        if spec.sub_group_policy:
            yield "spec.subGroupPolicy"
    if api is GangApi.WORKLOAD:
        if any(spec.scheduling_constraints.values()):
            yield "spec.schedulingConstraints"
        if spec.parent_composite_pod_group_name:
            yield "spec.parentCompositePodGroupName"


def _namespace(metadata: Metadata) -> str:
    return metadata.namespace or DEFAULT_NAMESPACE
