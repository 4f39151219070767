"""The API objects of a whole input, gathered list by list.

A list whose items are all of the kinds we read is decoded in one typed pass. Where that fails, its
items are taken one by one, so that a broken object costs itself and no other. What is left out is
told as a `Problem`; what is of no use is counted.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Final

import msgspec
from msgspec.structs import replace

from springtide.model import gang
from springtide.model.disruption import DisruptionBudget
from springtide.model.node import Node
from springtide.model.pod import Pod
from springtide.model.problem import Problem
from springtide.model.quotas import NamespaceQuota
from springtide.model.resource_claims import DeviceObjects
from springtide.model.selecting import Selecting
from springtide.model.storage import Storage
from springtide.model.workload import DaemonSet
from springtide.wire.errors import MalformedObject
from springtide.wire.k8s import schema
from springtide.wire.k8s.classes import Classes, Named, named
from springtide.wire.k8s.device_schema import DeviceObject
from springtide.wire.k8s.devices import DeviceReading
from springtide.wire.k8s.disruption import PodDisruptionBudget, to_budget
from springtide.wire.k8s.kinds import (
    DECODERS,
    Object,
    ObjectList,
    group_of,
    label,
    name_of,
    reads,
)
from springtide.wire.k8s.namespace_quotas import ResourceQuota, to_quota
from springtide.wire.k8s.nodes import to_node
from springtide.wire.k8s.parts import Parts, decoded, plain
from springtide.wire.k8s.pod_groups import GangReading, PodGroup, Workload
from springtide.wire.k8s.pods import is_manifest, to_pod
from springtide.wire.k8s.selecting import SelectorReading
from springtide.wire.k8s.storage import StorageReading
from springtide.wire.k8s.storage_schema import StorageObject
from springtide.wire.k8s.workloads import (
    Owners,
    Replicated,
    kind_of,
    namespace_of,
    standing_alone,
    to_daemon_set,
    to_pods,
)

_LEFT_OUT: Final = "The object is left out."


class _Template(msgspec.Struct, frozen=True):
    """The pod template of a workload, as it is written."""

    template: msgspec.Raw = schema.ABSENT


class _Workload(msgspec.Struct, frozen=True):
    spec: _Template = _Template()


class Objects:
    """What has been read so far, keyed by what an object is called.

    `raws` holds nodes, unbound pods and workloads as they are written, if they are kept. What only
    scores read is there `with_preferences`.
    """

    def __init__(self, *, keeps_raws: bool = False, with_preferences: bool = False) -> None:
        self._keeps_raws = keeps_raws
        self.raws: dict[str, msgspec.Raw] = {}
        self.parts = Parts(with_preferences=with_preferences)
        self.nodes: dict[str, Node] = {}
        self.pods: dict[str, Pod] = {}
        self.manifests: dict[str, Pod] = {}
        self.daemon_sets: dict[str, DaemonSet] = {}
        self.namespaces: dict[str, Mapping[str, str]] = {}
        self.budgets: dict[str, DisruptionBudget] = {}
        self.quotas: dict[str, NamespaceQuota] = {}
        self.sources: dict[str, str] = {}
        self.problems: list[Problem] = []
        self.read: Counter[str] = Counter()
        self.ignored: Counter[str] = Counter()
        self._storage = StorageReading()
        self._devices = DeviceReading()
        self._selectors = SelectorReading()
        self._gangs = GangReading()
        self._workloads: dict[tuple[str, str, str], tuple[str, Replicated]] = {}
        self._classes = Classes()
        self._named: dict[str, Named] = {}
        self._named_by_daemon_sets: dict[str, Named] = {}

    def add_list(self, listed: ObjectList, source: str) -> None:
        """Take the items of a list that was decoded in one pass."""
        for index, read in enumerate(listed.items):
            kind = kind_of(read)
            if read.api_version and not reads(group_of(read.api_version), kind):
                self.ignore(kind)
            else:
                self._add(read, source, f"items[{index}]")

    def add_raw(
        self, raw: bytes | msgspec.Raw, *, group: str, kind: str, source: str, at: str
    ) -> None:
        """Take one object that is still text; `at` names it where it has no name."""
        try:
            read = decoded(raw, DECODERS[group, kind])
        except MalformedObject as fault:
            self.read[kind] += 1
            self.problem(source, label(kind, plain(raw), at), fault)
        else:
            if isinstance(read, PodGroup) and not read.api_version:
                # Items of a list may leave it to the list to say which of three APIs they are of.
                read = replace(read, api_version=f"{group}/")
            self._add(read, source, at)
            if self._keeps_raws:
                self._keep_raw(read, raw if isinstance(raw, msgspec.Raw) else msgspec.Raw(raw))

    def ignore(self, kind: str) -> None:
        """Count an object that is of no use here."""
        self.ignored[kind] += 1

    def problem(self, source: str, name: str, fault: MalformedObject) -> None:
        """Record that one object is left out."""
        message = f"{fault.reason} {_LEFT_OUT}"
        self.problems.append(
            Problem(source=source, object=name, field=fault.field, message=message)
        )

    @property
    def storage(self) -> Storage:
        """Return all that was said about storage."""
        return self._storage.storage()

    @property
    def device_objects(self) -> DeviceObjects:
        """Return all that was said about devices and claims of them."""
        return self._devices.objects()

    @property
    def selecting(self) -> Selecting:
        """Return by what services and controllers select pods."""
        return self._selectors.selecting()

    @property
    def pod_groups(self) -> tuple[gang.PodGroup, ...]:
        """Return the groups of pods that may have to start together."""
        return self._gangs.groups

    def finish(self) -> None:
        """Let the workloads stand for their pods, now that all pods and classes are known."""
        self._expand_workloads()
        for key, names in self._named.items():
            pod = self.manifests[key]
            spec = self._classes.admitted(pod.spec, names)
            if spec is not pod.spec:
                self.manifests[key] = replace(pod, spec=spec)
        for key, names in self._named_by_daemon_sets.items():
            daemon_set = self.daemon_sets[key]
            spec = self._classes.admitted(daemon_set.spec, names)
            self.daemon_sets[key] = replace(daemon_set, spec=spec)

    def _expand_workloads(self) -> None:
        workloads = [each for _, each in self._workloads.values()]
        if not workloads:
            return
        owners = Owners((*self.pods.values(), *self.manifests.values()), workloads)
        alone = {id(each) for each in standing_alone(workloads)}
        taken = {*self.pods, *self.manifests}
        for source, workload in self._workloads.values():
            if id(workload) in alone and not owners.own(workload):
                self._expand(workload, source, taken)

    def _expand(self, workload: Replicated, source: str, taken: set[str]) -> None:
        try:
            pods = to_pods(workload, self.parts, taken=taken)
        except MalformedObject as fault:
            self.problem(source, name_of(workload, "metadata"), fault)
            return
        raw = self.raws.get(name_of(workload, ""))
        template = None if raw is None else msgspec.json.decode(raw, type=_Workload).spec.template
        for pod in pods:
            self.manifests[pod.key] = pod
            self._named[pod.key] = named(workload.spec.template.spec)
            self.sources[f"Pod/{pod.key}"] = source
            if template is not None:
                self.raws[f"Pod/{pod.key}"] = template
            taken.add(pod.key)

    def _add(self, read: Object, source: str, at: str) -> None:
        self.read[kind_of(read)] += 1
        try:
            is_new = self._keep(read, source)
        except MalformedObject as fault:
            self.problem(source, name_of(read, at), fault)
            return
        if is_new:
            self.sources[name_of(read, at)] = source
        else:
            reason = "it is given twice, and the first one counts. Remove one of them."
            self.problem(source, name_of(read, at), MalformedObject("", reason))

    def _keep_raw(self, read: Object, raw: msgspec.Raw) -> None:
        """Keep what may be shown to others; the first object of a name counts here too."""
        is_bound = isinstance(read, schema.Pod) and bool(read.spec.node_name)
        if isinstance(read, schema.Pod | schema.Node | Replicated) and not is_bound:
            self.raws.setdefault(name_of(read, ""), raw)

    def _keep(self, read: Object, source: str) -> bool:
        """Keep an object, and return whether it is the first of its name."""
        match read:
            case schema.Pod():
                return self._keep_pod(read)
            case schema.Node() | schema.Namespace() | PodDisruptionBudget() | ResourceQuota():
                return self._keep_as_it_is(read)
            case schema.DaemonSet():
                return self._keep_daemon_set(read)
            case schema.PriorityClass() | schema.RuntimeClass():
                return self._keep_class(read)
            case schema.Deployment() | schema.ReplicaSet() | schema.StatefulSet() | schema.Job():
                return self._keep_workload(read, source)
            case _:
                return self._keep_other(read)

    def _keep_as_it_is(
        self, read: schema.Node | schema.Namespace | PodDisruptionBudget | ResourceQuota
    ) -> bool:
        if isinstance(read, ResourceQuota):
            quota = to_quota(read, self.parts)
            return self.quotas.setdefault(quota.key, quota) is quota
        if isinstance(read, PodDisruptionBudget):
            budget = to_budget(read)
            return self.budgets.setdefault(budget.key, budget) is budget
        if isinstance(read, schema.Namespace):
            labels = read.metadata.labels
            return self.namespaces.setdefault(read.metadata.name, labels) is labels
        node = to_node(read, self.parts)
        return self.nodes.setdefault(node.name, node) is node

    def _keep_class(self, read: schema.PriorityClass | schema.RuntimeClass) -> bool:
        if isinstance(read, schema.PriorityClass):
            return self._classes.add_priority(read)
        return self._classes.add_runtime(read, self.parts)

    def _keep_other(
        self,
        read: schema.Service
        | schema.ReplicationController
        | StorageObject
        | DeviceObject
        | PodGroup
        | Workload,
    ) -> bool:
        if isinstance(read, PodGroup | Workload):
            return self._gangs.keep(read)
        if isinstance(read, DeviceObject):
            return self._devices.keep(read)
        if isinstance(read, schema.Service | schema.ReplicationController):
            return self._selectors.keep(read)
        return self._storage.keep(read)

    def _keep_pod(self, read: schema.Pod) -> bool:
        from_manifest = is_manifest(read)
        pod = to_pod(read, self.parts, is_manifest=from_manifest)
        key = pod.key
        if key in self.pods or key in self.manifests:
            return False
        (self.manifests if from_manifest else self.pods)[key] = pod
        if from_manifest:
            self._named[key] = named(read.spec)
        return True

    def _keep_daemon_set(self, read: schema.DaemonSet) -> bool:
        daemon_set = to_daemon_set(read, self.parts)
        self._named_by_daemon_sets.setdefault(daemon_set.key, named(read.spec.template.spec))
        return self.daemon_sets.setdefault(daemon_set.key, daemon_set) is daemon_set

    def _keep_workload(self, read: Replicated, source: str) -> bool:
        key = (kind_of(read), namespace_of(read.metadata), read.metadata.name)
        is_new = key not in self._workloads
        if is_new:
            self._workloads[key] = (source, read)
            if not isinstance(read, schema.Job):
                self._selectors.add(key, read.spec.selector)
        return is_new
