"""ConfigMap objects as records and back; what is binary in them is left alone."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from springtide.model.config_map import ConfigMap
from springtide.wire.errors import MalformedObject
from springtide.wire.k8s.parts import decoded


class _Metadata(msgspec.Struct, frozen=True, rename="camel"):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""


class _ConfigMap(msgspec.Struct, frozen=True):
    metadata: _Metadata = _Metadata()
    data: dict[str, str] = {}


_CONFIG_MAP: Final = msgspec.json.Decoder(_ConfigMap)


def decode_config_map(data: bytes | msgspec.Raw) -> ConfigMap:
    """Read a ConfigMap object, or raise MalformedObject."""
    read = decoded(data, _CONFIG_MAP)
    metadata = read.metadata
    if not metadata.name:
        raise MalformedObject("metadata.name", "the ConfigMap has no name; give it one.")
    return ConfigMap(
        namespace=metadata.namespace,
        name=metadata.name,
        data=read.data,
        uid=metadata.uid,
        version=metadata.resource_version,
    )


def config_map_object(config: ConfigMap) -> dict[str, Any]:
    """Return the object of a ConfigMap that is to be created."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": config.name, "namespace": config.namespace},
        "data": dict(config.data),
    }


def data_patch(data: Mapping[str, str | None]) -> dict[str, Any]:
    """Return a merge patch that sets these texts, removes those that are None, and leaves the others."""
    return {"data": dict(data)}
