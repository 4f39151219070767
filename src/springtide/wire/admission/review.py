"""What the API server asks a webhook: an AdmissionReview, of either version.

The pod in it is not stored yet: it may have no name, only what one will begin with, and no namespace but
the one of the request.
"""

from functools import partial
from typing import Final, Protocol, TypeVar

import msgspec
from msgspec.structs import replace

from springtide.model.pod import Pod
from springtide.wire.errors import DocumentFault, MalformedObject
from springtide.wire.extender import members as reading
from springtide.wire.k8s import Parts, schema
from springtide.wire.k8s.parts import decoded
from springtide.wire.k8s.pods import to_pod

GROUP: Final = "admission.k8s.io"
VERSIONS: Final = (f"{GROUP}/v1", f"{GROUP}/v1beta1")
KIND: Final = "AdmissionReview"
UNNAMED: Final = "pod"
"""What a pod is called here that says nothing of its name."""

_BODY: Final = "the body"
_POD: Final = msgspec.json.Decoder(schema.Pod)


class MalformedReview(DocumentFault):
    """A review cannot be understood; the message says what is wrong with it."""


class Review(msgspec.Struct, frozen=True, kw_only=True):
    """One question: `version` and `uid` come back with the answer, `raw` is the pod as it was sent."""

    version: str
    uid: str
    namespace: str
    raw: msgspec.Raw
    is_creation: bool = True


class Creation(msgspec.Struct, frozen=True, kw_only=True):
    """A pod that is to be created, and what else admission looks at.

    `scheduler_name` is as it is written, empty if it is not. `privileged` names the first privileged
    container, init containers first.
    """

    pod: Pod
    scheduler_name: str
    privileged: str
    has_runtime_class: bool


class HasUid(Protocol):
    """A request, as far as every one is read."""

    @property
    def uid(self) -> str:
        """What the answer has to name."""


R = TypeVar("R", bound=HasUid)


class _Kind(msgspec.Struct, frozen=True):
    group: str = ""
    kind: str = ""


class _Request(msgspec.Struct, frozen=True):
    uid: str = ""
    namespace: str = ""
    operation: str = ""
    kind: _Kind = _Kind()
    object: msgspec.Raw = schema.ABSENT


class _Metadata(msgspec.Struct, frozen=True, rename="camel"):
    name: str = ""
    generate_name: str = ""


class _Security(msgspec.Struct, frozen=True):
    privileged: bool | None = None


class _Container(msgspec.Struct, frozen=True, rename="camel"):
    name: str = ""
    security_context: _Security | None = None

    @property
    def is_privileged(self) -> bool:
        return self.security_context is not None and bool(self.security_context.privileged)


class _Spec(msgspec.Struct, frozen=True, rename="camel"):
    scheduler_name: str = ""
    runtime_class_name: str | None = None
    init_containers: tuple[_Container, ...] | None = ()
    containers: tuple[_Container, ...] | None = ()


class _Seen(msgspec.Struct, frozen=True):
    metadata: _Metadata = _Metadata()
    spec: _Spec = _Spec()


_value: Final = partial(reading.value, complain=MalformedReview)


def read_review(data: bytes) -> Review:
    """Return what is asked, or raise MalformedReview."""
    version, request = asked_of(data, _Request)
    return Review(
        version=version,
        uid=request.uid,
        namespace=request.namespace,
        raw=request.object,
        is_creation=request.operation in ("", "CREATE") and request.kind.kind in ("", "Pod"),
    )


def asked_of(data: bytes, of: type[R]) -> tuple[str, R]:
    """Return the version of a review and its request as this type, or raise MalformedReview."""
    first = reading.first(data, _BODY, complain=MalformedReview)
    members = reading.members(first, _BODY, complain=MalformedReview)
    version, kind = _value(members, "apiVersion", str) or "", _value(members, "kind", str) or ""
    if version not in VERSIONS or kind != KIND:
        said = f"{version or 'no version'} {kind or 'no kind'}"
        raise MalformedReview(f"the body is no {KIND} of {' or '.join(VERSIONS)}, but {said}")
    request = reading.value(members, "request", of, complain=MalformedReview)
    if request is None or not request.uid:
        raise MalformedReview("the review has no request with a uid")
    return version, request


def creation(review: Review, parts: Parts) -> Creation:
    """Return the pod that is to be created, or raise MalformedObject."""
    if not bytes(review.raw) or reading.is_null(review.raw):
        raise MalformedObject("request.object", "there is no pod to look at.")
    read, seen = decoded(review.raw, _POD), decoded(review.raw, _SEEN)
    metadata = replace(
        read.metadata,
        name=seen.metadata.name or seen.metadata.generate_name or UNNAMED,
        namespace=read.metadata.namespace or review.namespace,
    )
    containers = (*(seen.spec.init_containers or ()), *(seen.spec.containers or ()))
    return Creation(
        pod=to_pod(replace(read, metadata=metadata), parts),
        scheduler_name=seen.spec.scheduler_name,
        privileged=next((each.name for each in containers if each.is_privileged), ""),
        has_runtime_class=bool(seen.spec.runtime_class_name),
    )


_SEEN: Final = msgspec.json.Decoder(_Seen)
