"""What the API server asks a webhook about replicas: scales, workloads and autoscalers that are changed.

A scale says nothing of the labels of its workload; an autoscaler names the workload that it is about.
"""

from functools import partial
from typing import Final

import msgspec

from springtide.wire.admission.review import Review, asked_of
from springtide.wire.errors import MalformedObject
from springtide.wire.extender import members as reading
from springtide.wire.k8s.parts import decoded

KINDS: Final = {"statefulsets": "StatefulSet", "deployments": "Deployment"}
"""Resources of the API group `apps` that are looked at, and their kinds."""
_AUTOSCALERS: Final = "horizontalpodautoscalers"
_DELETE: Final = "DELETE"


class Workload(msgspec.Struct, frozen=True, kw_only=True):
    """A workload that can be scaled."""

    kind: str
    namespace: str
    name: str

    @property
    def resource(self) -> str:
        """Return what the API calls its kind."""
        return next(resource for resource, kind in KINDS.items() if kind == self.kind)


class Scaling(msgspec.Struct, frozen=True, kw_only=True):
    """One question: who changes the replicas of a workload, from how many to how many.

    `workload` is None where the question is about something else. `autoscaler` is the one whose maximum is
    meant; `before` is None where there was none for this workload.
    """

    review: Review
    user: str
    groups: tuple[str, ...] = ()
    workload: Workload | None = None
    autoscaler: str = ""
    before: int | None = None
    after: int = 0


class _Resource(msgspec.Struct, frozen=True):
    group: str = ""
    resource: str = ""


class _User(msgspec.Struct, frozen=True):
    username: str = ""
    groups: tuple[str, ...] | None = ()


class _Request(msgspec.Struct, frozen=True, rename="camel"):
    uid: str = ""
    namespace: str = ""
    name: str = ""
    operation: str = ""
    resource: _Resource = _Resource()
    sub_resource: str = ""
    user_info: _User = _User()
    object: msgspec.Raw = msgspec.Raw(b"null")
    old_object: msgspec.Raw = msgspec.Raw(b"null")


class _Replicas(msgspec.Struct, frozen=True):
    replicas: int | None = None


class _Scaled(msgspec.Struct, frozen=True):
    spec: _Replicas = _Replicas()


class _Reference(msgspec.Struct, frozen=True, rename="camel"):
    kind: str = ""
    name: str = ""
    api_version: str = ""


class _AutoscalerSpec(msgspec.Struct, frozen=True, rename="camel"):
    scale_target_ref: _Reference = _Reference()
    max_replicas: int = 0


class _Metadata(msgspec.Struct, frozen=True):
    name: str = ""


class _Autoscaler(msgspec.Struct, frozen=True):
    metadata: _Metadata = _Metadata()
    spec: _AutoscalerSpec = _AutoscalerSpec()


_SCALED: Final = msgspec.json.Decoder(_Scaled)
_AUTOSCALER: Final = msgspec.json.Decoder(_Autoscaler)


def read_scaling(data: bytes) -> Scaling:
    """Return what is asked, or raise MalformedReview or MalformedObject."""
    version, request = asked_of(data, _Request)
    review = Review(
        version=version, uid=request.uid, namespace=request.namespace, raw=request.object
    )
    user = request.user_info
    asks = partial(Scaling, review=review, user=user.username, groups=user.groups or ())
    if request.operation == _DELETE or reading.is_null(request.object):
        return asks()
    resource = request.resource
    if resource.group == "apps" and resource.resource in KINDS:
        if reading.is_null(request.old_object):
            return asks()
        return asks(
            workload=Workload(
                kind=KINDS[resource.resource], namespace=request.namespace, name=request.name
            ),
            before=_replicas(request.old_object, request),
            after=_replicas(request.object, request),
        )
    if resource.resource == _AUTOSCALERS and not request.sub_resource:
        new = decoded(request.object, _AUTOSCALER)
        return asks(
            workload=_target(new, request),
            autoscaler=request.name or new.metadata.name or "without a name",
            before=_maximum(request, new.spec.scale_target_ref),
            after=new.spec.max_replicas,
        )
    return asks()


def _replicas(raw: msgspec.Raw, request: _Request) -> int:
    """Return how many an object asks for; a scale leaves a zero out, a workload stands for one."""
    found = decoded(raw, _SCALED).spec.replicas
    if found is not None:
        return found
    return 0 if request.sub_resource == "scale" else 1


def _target(found: _Autoscaler, request: _Request) -> Workload | None:
    reference = found.spec.scale_target_ref
    if reference.kind not in KINDS.values() or not reference.api_version.startswith("apps/"):
        return None
    if not reference.name:
        raise MalformedObject("request.object", "its scaleTargetRef has no name.")
    return Workload(kind=reference.kind, namespace=request.namespace, name=reference.name)


def _maximum(request: _Request, target: _Reference) -> int | None:
    """Return the maximum there was for this workload."""
    if reading.is_null(request.old_object):
        return None
    old = decoded(request.old_object, _AUTOSCALER).spec
    is_same = (old.scale_target_ref.kind, old.scale_target_ref.name) == (target.kind, target.name)
    return old.max_replicas if is_same else None
