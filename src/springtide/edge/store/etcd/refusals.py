"""What etcd says when it does not do something, sorted into faults.

Its words tell more than its codes: "revision of auth store is old" and "user name is empty" are both
arguments that it does not like, and mean that a password has to be shown.
"""

from typing import Final

import msgspec

from springtide.edge.store.errors import Denied, Malformed, StoreFault, Unreachable
from springtide.edge.store.etcd.shapes import Fault

_FORBIDDEN: Final = 403
_UNAUTHENTICATED: Final = 401
_MISSING: Final = 404
_CLIENT: Final = range(400, 500)
_TOO_MANY: Final = 429
_UNKNOWN_US: Final = (
    "invalid auth token",
    "user name is empty",
    "revision of auth store is old",
    "auth token is not provided",
)
COMPACTED: Final = "required revision has been compacted"


class Unknown(Denied):
    """etcd does not know us any more; a password that is shown helps."""


class LeaseGone(StoreFault):
    """The lease ran out; what hung on it is gone."""


class WithoutAuth(Denied):
    """It asks nobody for passwords."""


_REFUSED: Final = (
    "etcd refuses ({}). Correct the password, or give the user a role with these keys."
)
_KNOWN: Final = (
    ("requested lease not found", LeaseGone, "The lease ran out."),
    ("authentication is not enabled", WithoutAuth, "It has no users. Take out user."),
    ("invalid user ID or password", Denied, _REFUSED),
    ("permission denied", Denied, _REFUSED),
)


def fault(status: int, body: bytes, path: str, *, has_user: bool) -> StoreFault:
    """Return what an answer that is no success means."""
    words = _words(body)
    if words is None:
        why = f"What answers at {path} is no etcd (code {status}). Correct the endpoints."
        return Unreachable(why) if status not in _CLIENT else Malformed(why)
    return _named(status, words, has_user=has_user)


def told(words: str, *, has_user: bool) -> StoreFault:
    """Return what etcd's words in the middle of a stream mean."""
    return _named(0, words, has_user=has_user)


def _named(status: int, words: str, *, has_user: bool) -> StoreFault:
    if any(each in words for each in _UNKNOWN_US) and has_user:
        return Unknown(f"etcd does not know us any more: {words}.")
    if any(each in words for each in _UNKNOWN_US):
        return Denied(f"etcd asks who we are ({words}). Give user and passwordFile.")
    for known, kind, why in _KNOWN:
        if known in words:
            return kind(why.format(words))
    if status in (_FORBIDDEN, _UNAUTHENTICATED):
        return Denied(_REFUSED.format(words))
    if status in _CLIENT and status not in (_TOO_MANY, _MISSING):
        return Malformed(f"etcd does not take what was asked ({words}).")
    return Unreachable(f"etcd cannot do it now ({words}).")


def _words(body: bytes) -> str | None:
    try:
        return msgspec.json.decode(body, type=Fault).words or None
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
