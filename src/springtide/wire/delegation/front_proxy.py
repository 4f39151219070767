"""The front proxy: which certificates it may show, and in which headers it says for whom it asks.

Both stand in a ConfigMap that every API server keeps. Headers count only from a caller whose certificate is
one of the front proxy; from anybody else they are an attempt to be somebody else.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final
from urllib.parse import unquote

import msgspec

from springtide.wire.delegation.user import User
from springtide.wire.errors import MalformedObject

CONFIG_MAP_PATH: Final = (
    "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"
)
_AUTHORITY: Final = "requestheader-client-ca-file"
_USER_HEADERS: Final = ("X-Remote-User",)
_GROUP_HEADERS: Final = ("X-Remote-Group",)
_UID_HEADERS: Final = ("X-Remote-Uid",)
_EXTRA_PREFIXES: Final = ("X-Remote-Extra-",)

Headers = Iterable[tuple[bytes, bytes]]
Names = tuple[str, ...]


class FrontProxy(msgspec.Struct, frozen=True, kw_only=True):
    """What the ConfigMap says; no allowed names mean any, headers are in lower case."""

    authority_pem: str
    allowed_names: Names = ()
    user_headers: Names
    group_headers: Names
    uid_headers: Names
    extra_prefixes: Names

    def allows(self, certificate: Mapping[str, Any]) -> bool:
        """Return whether a certificate of the authority, as `ssl` tells it, has a name that counts."""
        return not self.allowed_names or any(
            name in self.allowed_names for name in _common_names(certificate)
        )


class _ConfigMap(msgspec.Struct, frozen=True):
    data: dict[str, str] = {}


_CONFIG_MAP: Final = msgspec.json.Decoder(_ConfigMap)
_LIST: Final = msgspec.json.Decoder(tuple[str, ...])


def read_front_proxy(config_map: bytes) -> FrontProxy | None:
    """Return the front proxy, None if the cluster has none; or raise MalformedObject."""
    try:
        data = _CONFIG_MAP.decode(config_map).data
    except msgspec.DecodeError as fault:
        raise MalformedObject("data", f"it holds no texts: {fault}") from fault
    authority = data.get(_AUTHORITY, "")
    if not authority.strip():
        return None
    return FrontProxy(
        authority_pem=authority,
        allowed_names=_names(data, "requestheader-allowed-names", ()),
        user_headers=_lower(_names(data, "requestheader-username-headers", _USER_HEADERS)),
        group_headers=_lower(_names(data, "requestheader-group-headers", _GROUP_HEADERS)),
        uid_headers=_lower(_names(data, "requestheader-uid-headers", _UID_HEADERS)),
        extra_prefixes=_lower(_names(data, "requestheader-extra-headers-prefix", _EXTRA_PREFIXES)),
    )


def user_of_headers(front: FrontProxy, headers: Headers) -> User | None:
    """Return for whom the front proxy asks, None if it names nobody."""
    pairs = [(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in headers]
    name = _first(pairs, front.user_headers)
    if not name:
        return None
    groups = tuple(value for key, value in pairs if key in front.group_headers and value)
    return User(
        name=name,
        uid=_first(pairs, front.uid_headers),
        groups=groups,
        extra=_extra(pairs, front.extra_prefixes),
    )


def _first(pairs: Iterable[tuple[str, str]], names: Names) -> str:
    found = dict(reversed([(key, value) for key, value in pairs if value]))
    return next((found[name] for name in names if name in found), "")


def _extra(
    pairs: Iterable[tuple[str, str]], prefixes: Names
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    found: dict[str, list[str]] = {}
    for key, value in pairs:
        for prefix in prefixes:
            if key.startswith(prefix) and len(key) > len(prefix):
                found.setdefault(unquote(key.removeprefix(prefix)), []).append(value)
    return tuple((key, tuple(values)) for key, values in sorted(found.items()))


def _names(data: Mapping[str, str], key: str, unless: Names) -> Names:
    """Return a list that stands in a text, or raise MalformedObject."""
    text = data.get(key, "")
    if not text.strip():
        return unless
    try:
        return _LIST.decode(text.encode())
    except msgspec.DecodeError as fault:
        raise MalformedObject(f"data.{key}", f"it is no list of texts: {fault}") from fault


def _lower(names: Names) -> Names:
    return tuple(name.lower() for name in names)


def _common_names(certificate: Mapping[str, Any]) -> Iterator[str]:
    for part in certificate.get("subject", ()):
        for key, value in part:
            if key == "commonName":
                yield value
