"""What a webhook answers: allowed as it is, allowed with changes, denied, or an error of its own."""

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from springtide.wire.admission.patch import Operation
from springtide.wire.admission.review import KIND, VERSIONS, Review

FORBIDDEN: Final = 403
_REASONS: Final = {FORBIDDEN: "Forbidden"}


class AdmissionStatus(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why it may not be created, or what is to be said of it."""

    code: int = 0
    reason: str = ""
    message: str = ""


class AdmissionResponse(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The answer to the request with this uid; a patch is a list of JSON patch operations."""

    uid: str
    allowed: bool
    status: AdmissionStatus | msgspec.UnsetType = msgspec.UNSET
    # Encoded as base64, which is how the API wants it.
    patch: bytes | msgspec.UnsetType = msgspec.UNSET
    patch_type: str | msgspec.UnsetType = msgspec.UNSET


_ENCODER: Final = msgspec.json.Encoder()


def allowed(review: Review, operations: Sequence[Operation] = (), *, message: str = "") -> bytes:
    """Return the answer that the pod may be created, once it is changed like this."""
    status = AdmissionStatus(message=message) if message else msgspec.UNSET
    if not operations:
        return _encoded(
            review.version, AdmissionResponse(uid=review.uid, allowed=True, status=status)
        )
    return _encoded(
        review.version,
        AdmissionResponse(
            uid=review.uid,
            allowed=True,
            status=status,
            patch=_ENCODER.encode(list(operations)),
            patch_type="JSONPatch",
        ),
    )


def refused(review: Review | None, message: str, *, code: int = FORBIDDEN) -> bytes:
    """Return the answer that the pod may not be created; without a review, it was not even readable."""
    status = AdmissionStatus(code=code, reason=_REASONS.get(code, ""), message=message)
    version, uid = (VERSIONS[0], "") if review is None else (review.version, review.uid)
    return _encoded(version, AdmissionResponse(uid=uid, allowed=False, status=status))


def _encoded(version: str, response: AdmissionResponse) -> bytes:
    said: dict[str, Any] = {"apiVersion": version, "kind": KIND, "response": response}
    return _ENCODER.encode(said)
