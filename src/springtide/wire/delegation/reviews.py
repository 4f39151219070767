"""TokenReview and SubjectAccessReview: who has a token, and who may do what.

What is not answered in so many words is no: a review without status, a user without name.
"""

from typing import Any, Final

import msgspec

from springtide.wire.delegation.user import User
from springtide.wire.errors import MalformedObject

TOKEN_REVIEWS_PATH: Final = "/apis/authentication.k8s.io/v1/tokenreviews"  # noqa: S105 - no secret
ACCESS_REVIEWS_PATH: Final = "/apis/authorization.k8s.io/v1/subjectaccessreviews"


class Attributes(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody wants to do: a verb on a resource in a namespace, or on a `path` that is none."""

    verb: str
    path: str = ""
    group: str = ""
    version: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """Whether it may be done, and why not in the words of who decides."""

    is_allowed: bool
    why: str = ""


class _TokenUser(msgspec.Struct, frozen=True):
    username: str = ""
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: dict[str, tuple[str, ...]] = {}


class _TokenStatus(msgspec.Struct, frozen=True):
    authenticated: bool = False
    user: _TokenUser = _TokenUser()


class _TokenReview(msgspec.Struct, frozen=True):
    status: _TokenStatus = _TokenStatus()


class _AccessStatus(msgspec.Struct, frozen=True):
    allowed: bool = False
    denied: bool = False
    reason: str = ""


class _AccessReview(msgspec.Struct, frozen=True):
    status: _AccessStatus = _AccessStatus()


def token_review(token: str) -> dict[str, Any]:
    """Return the question whose token this is."""
    return {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenReview",
        "spec": {"token": token},
    }


def read_token_review(body: bytes) -> User | None:
    """Return whose token it is, None if nobody's; or raise MalformedObject."""
    status = _decoded(body, _TokenReview).status
    if not status.authenticated or not status.user.username:
        return None
    found = status.user
    return User(
        name=found.username,
        uid=found.uid,
        groups=found.groups,
        extra=tuple(sorted(found.extra.items())),
    )


def access_review(user: User, attributes: Attributes) -> dict[str, Any]:
    """Return the question whether a user may do it."""
    spec: dict[str, Any] = {"user": user.name, "groups": list(user.groups)}
    if user.uid:
        spec["uid"] = user.uid
    if user.extra:
        spec["extra"] = {key: list(values) for key, values in user.extra}
    if attributes.path:
        asked = {"path": attributes.path, "verb": attributes.verb}
        spec["nonResourceAttributes"] = asked
    else:
        said = msgspec.structs.asdict(attributes)
        spec["resourceAttributes"] = {key: value for key, value in said.items() if value}
    return {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": spec,
    }


def read_access_review(body: bytes) -> Verdict:
    """Return the verdict, or raise MalformedObject."""
    status = _decoded(body, _AccessReview).status
    return Verdict(is_allowed=status.allowed and not status.denied, why=status.reason)


def _decoded(body: bytes, of: Any) -> Any:
    try:
        return msgspec.json.decode(body, type=of)
    except msgspec.DecodeError as fault:
        raise MalformedObject("status", f"the review cannot be read: {fault}") from fault
