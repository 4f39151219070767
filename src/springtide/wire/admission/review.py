"""What the API server asks a webhook: an AdmissionReview, of either version.

The pod in it is not stored yet: it may have no name, only what one will begin with, and no namespace but
the one of the request.
"""

from functools import partial
from typing import Final

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


class _Named(msgspec.Struct, frozen=True):
    metadata: _Metadata = _Metadata()


_value: Final = partial(reading.value, complain=MalformedReview)


def read_review(data: bytes) -> Review:
    """Return what is asked, or raise MalformedReview."""
    first = reading.first(data, _BODY, complain=MalformedReview)
    members = reading.members(first, _BODY, complain=MalformedReview)
    version, kind = _value(members, "apiVersion", str) or "", _value(members, "kind", str) or ""
    if version not in VERSIONS or kind != KIND:
        said = f"{version or 'no version'} {kind or 'no kind'}"
        raise MalformedReview(f"the body is no {KIND} of {' or '.join(VERSIONS)}, but {said}")
    request = _value(members, "request", _Request)
    if request is None or not request.uid:
        raise MalformedReview("the review has no request with a uid")
    return Review(
        version=version,
        uid=request.uid,
        namespace=request.namespace,
        raw=request.object,
        is_creation=request.operation in ("", "CREATE") and request.kind.kind in ("", "Pod"),
    )


def created_pod(review: Review, parts: Parts) -> Pod:
    """Return the pod that is to be created, or raise MalformedObject."""
    if not bytes(review.raw) or reading.is_null(review.raw):
        raise MalformedObject("request.object", "there is no pod to look at.")
    read = decoded(review.raw, _POD)
    named = decoded(review.raw, _NAMED).metadata
    metadata = replace(
        read.metadata,
        name=named.name or named.generate_name or UNNAMED,
        namespace=read.metadata.namespace or review.namespace,
    )
    return to_pod(replace(read, metadata=metadata), parts)


_NAMED: Final = msgspec.json.Decoder(_Named)
