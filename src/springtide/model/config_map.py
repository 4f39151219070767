"""Texts by name that somebody keeps in a cluster."""

import msgspec


class ConfigMap(msgspec.Struct, frozen=True, kw_only=True):
    """What a ConfigMap object says; `version` is what the server calls this state of it, empty for one not yet there."""

    namespace: str
    name: str
    data: dict[str, str] = {}
    uid: str = ""
    version: str = ""
