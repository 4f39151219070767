"""The bodies of a webhook's calls as types: for documents of the API. Nothing is read by them."""

from typing import Literal, TypeAlias

from msgspec import Struct

from springtide.wire.admission.answer import AdmissionResponse
from springtide.wire.extender.shapes import Name, PodSpec

Version: TypeAlias = Literal["admission.k8s.io/v1", "admission.k8s.io/v1beta1"]


class ObjectSubmittedMeta(Struct, frozen=True, rename="camel"):
    """What is said of an object that is not stored yet: it may have no name, only what one begins with."""

    name: str = ""
    generate_name: str = ""
    namespace: str = ""
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None


class PodSubmitted(Struct, frozen=True):
    """A pod that is to be created; fields that are not named here are passed over."""

    metadata: ObjectSubmittedMeta = ObjectSubmittedMeta()
    spec: PodSpec = PodSpec()


class GroupVersionKind(Struct, frozen=True):
    """What kind of object it is."""

    group: str = ""
    version: str = ""
    kind: str = ""


class AdmissionRequest(Struct, frozen=True, kw_only=True):
    """The question: whether the object may be created. What is no creation of a pod is allowed."""

    uid: Name
    namespace: str = ""
    operation: str = "CREATE"
    kind: GroupVersionKind = GroupVersionKind()
    object: PodSubmitted | None = None


class AdmissionReviewRequest(Struct, frozen=True, kw_only=True, rename="camel"):
    """A review that the API server asks for."""

    api_version: Version
    kind: Literal["AdmissionReview"]
    request: AdmissionRequest


class AdmissionReviewResponse(Struct, frozen=True, kw_only=True, rename="camel"):
    """A review that is answered, in the version of the question."""

    api_version: Version
    kind: Literal["AdmissionReview"]
    response: AdmissionResponse
