"""Numbers as the scale of a workload in a cluster, for clusters whose autoscaler cannot be exact.

The scale is written only as it was read: somebody else who scales meanwhile makes the order fail, and it is
decided anew. Members are told apart by the replicas that are wanted and those that are there.
"""

from typing import Final
from urllib.parse import quote

import msgspec

from springtide.edge.cluster.errors import ClusterFault, Failing, Unreachable
from springtide.edge.executors.errors import NotDone, OutcomeUnknown, Unobservable
from springtide.edge.kube.refusals import object_fault
from springtide.edge.kube.transport import MERGE_PATCH, Answer, Request, Transport
from springtide.model.replicas.execution import Node, NodeState, Observation, ScaleOrder

_OK: Final = 200


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Which workload it is."""

    namespace: str
    name: str
    group: str = "apps"
    version: str = "v1"
    resource: str = "statefulsets"

    @property
    def path(self) -> str:
        """Return where its scale is."""
        space, name = quote(self.namespace, safe=""), quote(self.name, safe="")
        root = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        return f"{root}/namespaces/{space}/{self.resource}/{name}/scale"


class _Metadata(msgspec.Struct, frozen=True, rename="camel"):
    resource_version: str = ""


class _Count(msgspec.Struct, frozen=True):
    replicas: int = 0


class _Scale(msgspec.Struct, frozen=True):
    metadata: _Metadata = _Metadata()
    spec: _Count = _Count()
    status: _Count = _Count()


_SCALE: Final = msgspec.json.Decoder(_Scale)


class KubeScale:
    """Scales one workload of a cluster."""

    def __init__(self, api: Transport, place: Place) -> None:
        self._api = api
        self._place = place
        self._version = ""

    async def observe(self) -> Observation:
        """Return the pods that are there or wanted."""
        try:
            answer = await self._sent(Request(method="GET", path=self._place.path))
            scale = _SCALE.decode(answer.body)
        except ClusterFault as fault:
            raise Unobservable(str(fault)) from fault
        except msgspec.DecodeError as fault:
            raise Unobservable(
                f"The scale of {self._place.name} cannot be read: {fault}."
            ) from fault
        self._version = scale.metadata.resource_version
        wanted, there = max(0, scale.spec.replicas), max(0, scale.status.replicas)
        nodes = tuple(
            Node(id=f"{self._place.name}/{index}", index=index, state=_state(index, wanted, there))
            for index in range(1, max(wanted, there) + 1)
        )
        return Observation(replicas=len(nodes), nodes=nodes)

    async def scale(self, order: ScaleOrder) -> None:
        """Write the replicas, if the scale is as it was observed last."""
        body = {
            "metadata": {"resourceVersion": self._version},
            "spec": {"replicas": order.desired},
        }
        request = Request(
            method="PATCH", path=self._place.path, body=body, content_type=MERGE_PATCH
        )
        try:
            await self._sent(request)
        except (Unreachable, Failing) as fault:
            raise OutcomeUnknown(str(fault)) from fault
        except ClusterFault as fault:
            raise NotDone(str(fault)) from fault

    async def _sent(self, request: Request) -> Answer:
        answer = await self._api.send(request)
        if answer.status != _OK:
            what = f"the scale of {self._place.resource} {self._place.name}"
            raise object_fault(answer, what)
        return answer


def _state(index: int, wanted: int, there: int) -> NodeState:
    if index > there:
        return NodeState.STARTING
    return NodeState.RUNNING if index <= wanted else NodeState.STOPPING
