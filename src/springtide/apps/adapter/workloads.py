"""What the cluster says of workloads, to hold an index against: replicas, pods, records, and how long they differ.

Their scale is read when somebody asks for them and kept a short while; pods are listed only where fewer
members have spoken than there are. What members have written down is read where that is wanted.
"""

from typing import Final
from urllib.parse import quote

import msgspec

from springtide.apps.adapter.memo import Memo
from springtide.base.clock import Clock
from springtide.edge.cluster.errors import ClusterFault, Malformed
from springtide.edge.kube.refusals import object_fault
from springtide.edge.kube.transport import Request, Transport
from springtide.edge.lines import Log
from springtide.engine.metrics import Workload
from springtide.model.replicas.meeting import meeting
from springtide.wire.errors import MalformedObject
from springtide.wire.k8s.config_maps import decode_config_map
from springtide.wire.k8s.replica_maps import read_records

KEEP_S: Final = 10.0
WORKLOADS_MAX: Final = 4096
READY_PODS_MAX: Final = 100_000
STATEFUL_SETS: Final = "statefulsets"
_OK: Final = 200
_FORBIDDEN: Final = 403
_NOT_FOUND: Final = 404


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Which workload it is."""

    namespace: str
    resource: str
    name: str

    @property
    def path(self) -> str:
        """Return where its scale is."""
        space, name = quote(self.namespace, safe=""), quote(self.name, safe="")
        return f"/apis/apps/v1/namespaces/{space}/{self.resource}/{name}/scale"


class _ScaleSpec(msgspec.Struct, frozen=True):
    replicas: int = 0


class _ScaleStatus(msgspec.Struct, frozen=True):
    replicas: int = 0
    selector: str = ""


class Scale(msgspec.Struct, frozen=True):
    """The scale of a workload."""

    spec: _ScaleSpec = _ScaleSpec()
    status: _ScaleStatus = _ScaleStatus()

    @property
    def workload(self) -> Workload:
        """Return the workload as if each of its pods had been ready."""
        return Workload(members=self.status.replicas, replicas=self.spec.replicas)


class _Metadata(msgspec.Struct, frozen=True):
    uid: str = ""


class _Condition(msgspec.Struct, frozen=True):
    type: str = ""
    status: str = ""


class _Container(msgspec.Struct, frozen=True, rename="camel"):
    restart_count: int = 0


class _PodStatus(msgspec.Struct, frozen=True, rename="camel"):
    conditions: tuple[_Condition, ...] = ()
    container_statuses: tuple[_Container, ...] = ()


class _Pod(msgspec.Struct, frozen=True):
    metadata: _Metadata = _Metadata()
    status: _PodStatus = _PodStatus()


class _Pods(msgspec.Struct, frozen=True):
    items: tuple[_Pod, ...] = ()


_SCALE: Final = msgspec.json.Decoder(Scale)
_PODS: Final = msgspec.json.Decoder(_Pods)


class Workloads:
    """Tells of workloads."""

    def __init__(self, api: Transport, *, clock: Clock, log: Log) -> None:
        self._api = api
        self._clock = clock
        self._log = log
        self._scales = Memo(self._read_scale, clock=clock, keep_s=KEEP_S, entries_max=WORKLOADS_MAX)
        self._members = Memo(self._counted, clock=clock, keep_s=KEEP_S, entries_max=WORKLOADS_MAX)
        self._recorded = Memo(
            self._read_records, clock=clock, keep_s=KEEP_S, entries_max=WORKLOADS_MAX
        )
        self._ready: dict[str, None] = {}
        self._beyond_s: dict[Place, float] = {}

    async def scale(self, place: Place) -> Scale | None:
        """Return the scale of a workload, None if it cannot be read."""
        try:
            return await self._scales.get(place)
        except ClusterFault as fault:
            self._log("scale_unread", is_fault=True, workload=place.name, message=str(fault))
            return None

    async def members(self, place: Place, scale: Scale) -> int | None:
        """Return how many of its pods have been ready once, None if they cannot be listed."""
        try:
            return await self._members.get((place.namespace, scale.status.selector))
        except ClusterFault as fault:
            self._log("pods_unread", is_fault=True, workload=place.name, message=str(fault))
            return None

    async def recorded(self, place: Place) -> int | None:
        """Return the highest number that is written down to hold state, None if there is no such list."""
        if place.resource != STATEFUL_SETS:
            # Numbers of others say nothing about how many must stay.
            return None
        try:
            return await self._recorded.get(place)
        except ClusterFault as fault:
            self._log("records_unread", is_fault=True, workload=place.name, message=str(fault))
            return None

    def beyond(self, place: Place, *, is_beyond: bool) -> float:
        """Return for how long an index has stood beyond its workload, 0 if it does not."""
        if not is_beyond:
            self._beyond_s.pop(place, None)
            return 0.0
        now_s = self._clock.monotonic_s()
        while len(self._beyond_s) >= WORKLOADS_MAX and place not in self._beyond_s:
            del self._beyond_s[next(iter(self._beyond_s))]
        return now_s - self._beyond_s.setdefault(place, now_s)

    async def _read_scale(self, place: Place) -> Scale | None:
        answer = await self._api.send(Request(method="GET", path=place.path))
        if answer.status == _NOT_FOUND:
            return None
        if answer.status != _OK:
            raise object_fault(answer, f"the scale of {place.resource} {place.name}")
        try:
            return _SCALE.decode(answer.body)
        except msgspec.DecodeError as fault:
            raise Malformed(f"The scale of {place.name} cannot be read: {fault}.") from fault

    async def _read_records(self, place: Place) -> int | None:
        space, name = quote(place.namespace, safe=""), quote(meeting(place.name).records, safe="")
        path = f"/api/v1/namespaces/{space}/configmaps/{name}"
        answer = await self._api.send(Request(method="GET", path=path))
        if answer.status == _NOT_FOUND:
            return None
        if answer.status == _FORBIDDEN:
            # Whoever has not the right does not get it in between.
            fault = object_fault(answer, f"the records of {place.name}")
            self._log("records_unread", is_fault=True, workload=place.name, message=str(fault))
            return None
        if answer.status != _OK:
            raise object_fault(answer, f"the records of {place.name}")
        try:
            return max(read_records(decode_config_map(answer.body)), default=0)
        except MalformedObject as fault:
            raise Malformed(f"The records of {place.name} cannot be read: {fault}") from fault

    async def _counted(self, key: tuple[str, str]) -> int:
        namespace, selector = key
        path = f"/api/v1/namespaces/{quote(namespace, safe='')}/pods"
        query = (("labelSelector", selector),)
        answer = await self._api.send(Request(method="GET", path=path, query=query))
        if answer.status != _OK:
            raise object_fault(answer, f"the pods of {namespace}")
        try:
            pods = _PODS.decode(answer.body).items
        except msgspec.DecodeError as fault:
            raise Malformed(f"The pods of {namespace} cannot be read: {fault}.") from fault
        return sum(self._has_been_ready(each) for each in pods)

    def _has_been_ready(self, pod: _Pod) -> bool:
        """Return whether a pod may hold state; one that restarts has been ready, as far as we know."""
        uid, status = pod.metadata.uid, pod.status
        if any(each.type == "Ready" and each.status == "True" for each in status.conditions):
            while len(self._ready) >= READY_PODS_MAX and uid not in self._ready:
                del self._ready[next(iter(self._ready))]
            self._ready[uid] = None
            return True
        return uid in self._ready or any(each.restart_count for each in status.container_statuses)
