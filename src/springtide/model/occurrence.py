"""Something that happened to an object, for people to read among the object's events."""

import msgspec


class Regarding(msgspec.Struct, frozen=True, kw_only=True):
    """The object that it happened to."""

    kind: str
    name: str
    namespace: str = ""
    uid: str = ""
    api_version: str = "v1"


class Occurrence(msgspec.Struct, frozen=True, kw_only=True):
    """One event; `first` and `last` are times as RFC 3339 has them, `count` how often until then."""

    name: str
    namespace: str
    regarding: Regarding
    reason: str
    message: str
    component: str
    first: str
    last: str
    count: int = 1
    is_warning: bool = False
