"""Which workloads are guarded, and how many replicas they have: read whenever somebody wants fewer.

Nothing is kept, because a mark that was just set counts at once; nobody lowers replicas often.
"""

from typing import Final
from urllib.parse import quote

import msgspec

from springtide.edge.cluster.errors import Malformed
from springtide.edge.kube.refusals import object_fault
from springtide.edge.kube.transport import Request, Transport
from springtide.wire.admission import Workload

TRUE: Final = "true"
_OK: Final = 200
_NOT_FOUND: Final = 404


class _Metadata(msgspec.Struct, frozen=True):
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None


class _Spec(msgspec.Struct, frozen=True):
    replicas: int = 1


class Seen(msgspec.Struct, frozen=True):
    """A workload, as far as a guard looks at it."""

    metadata: _Metadata = _Metadata()
    spec: _Spec = _Spec()

    def has(self, mark: str) -> bool:
        """Return whether it says itself that it is guarded."""
        found = self.metadata
        given = ((found.labels or {}).get(mark), (found.annotations or {}).get(mark))
        return bool(mark) and TRUE in given


_SEEN: Final = msgspec.json.Decoder(Seen)


async def read(api: Transport, workload: Workload) -> Seen | None:
    """Return a workload, None if there is none; raises ClusterFault if that cannot be told."""
    space, name = quote(workload.namespace, safe=""), quote(workload.name, safe="")
    path = f"/apis/apps/v1/namespaces/{space}/{workload.resource}/{name}"
    answer = await api.send(Request(method="GET", path=path))
    if answer.status == _NOT_FOUND:
        return None
    if answer.status != _OK:
        raise object_fault(answer, f"{workload.resource} {workload.name}")
    try:
        return _SEEN.decode(answer.body)
    except msgspec.DecodeError as fault:
        raise Malformed(f"{workload.name} cannot be read: {fault}.") from fault
