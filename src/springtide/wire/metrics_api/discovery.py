"""What says which metrics there are: discovery in both of its forms, and the least of OpenAPI.

The aggregator asks for `/apis` in the aggregated form and falls back to the lists of groups and resources;
the list of resources of a version is also how it finds out that the server is there. A resource of
custom.metrics.k8s.io has two parts, `statefulsets.apps/replicas`, of which the second is a subresource.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

AGGREGATED: Final = "apidiscovery.k8s.io"
AGGREGATED_TYPE: Final = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
_VERBS: Final = ("get",)
_PARAMETER: Final = re.compile(r"\s*;\s*")


class Resource(msgspec.Struct, frozen=True, kw_only=True):
    """One metric; `of` is the resource whose objects have it, empty for an external one."""

    name: str
    kind: str
    of: str = ""

    @property
    def full_name(self) -> str:
        """Return the name as the list of resources has it."""
        return f"{self.of}/{self.name}" if self.of else self.name


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """One API group with its only version, and the metrics in it."""

    name: str
    version: str
    resources: tuple[Resource, ...] = ()

    @property
    def group_version(self) -> str:
        """Return both as `apiVersion` has them."""
        return f"{self.name}/{self.version}"


def api_group_list(groups: Iterable[Group]) -> bytes:
    """Return what there is at `/apis`."""
    return msgspec.json.encode(
        {"kind": "APIGroupList", "apiVersion": "v1", "groups": [_group(each) for each in groups]}
    )


def api_group(group: Group) -> bytes:
    """Return what there is at `/apis/GROUP`."""
    return msgspec.json.encode({"kind": "APIGroup", "apiVersion": "v1", **_group(group)})


def resource_list(group: Group) -> bytes:
    """Return what there is at `/apis/GROUP/VERSION`."""
    listed = [
        {
            "name": each.full_name,
            "singularName": "",
            "namespaced": True,
            "kind": each.kind,
            "verbs": _VERBS,
        }
        for each in group.resources
    ]
    return msgspec.json.encode(
        {
            "kind": "APIResourceList",
            "apiVersion": "v1",
            "groupVersion": group.group_version,
            "resources": listed,
        }
    )


def discovery_list(groups: Iterable[Group]) -> bytes:
    """Return what there is at `/apis` in the aggregated form."""
    return msgspec.json.encode(
        {
            "kind": "APIGroupDiscoveryList",
            "apiVersion": f"{AGGREGATED}/v2",
            "metadata": {},
            "items": [_discovered(each) for each in groups],
        }
    )


def wants_aggregated(accept: str) -> bool:
    """Return whether a caller takes the aggregated form that is written here."""
    return any(_is_aggregated(each) for each in accept.split(","))


def openapi_v2(title: str, version: str) -> bytes:
    """Return a document of OpenAPI 2 that adds no paths to those of the cluster."""
    info = {"title": title, "version": version}
    return msgspec.json.encode({"swagger": "2.0", "info": info, "paths": {}})


def openapi_v3_index(paths: Sequence[str], digest: str) -> bytes:
    """Return which documents of OpenAPI 3 there are; the digest changes with what they say."""
    listed = {
        path: {"serverRelativeURL": f"/openapi/v3/{path}?hash={digest}"} for path in sorted(paths)
    }
    return msgspec.json.encode({"paths": listed})


def _group(group: Group) -> Mapping[str, Any]:
    version = {"groupVersion": group.group_version, "version": group.version}
    return {"name": group.name, "versions": [version], "preferredVersion": version}


def _is_aggregated(accepted: str) -> bool:
    media, *parameters = _PARAMETER.split(accepted.strip())
    wanted = {"g=apidiscovery.k8s.io", "v=v2", "as=APIGroupDiscoveryList"}
    return media == "application/json" and wanted <= set(parameters)


def _discovered(group: Group) -> Mapping[str, Any]:
    plain = [_resource(each, group) for each in group.resources if not each.of]
    parents = dict.fromkeys(each.of for each in group.resources if each.of)
    below = [
        {
            "resource": parent,
            "scope": "Namespaced",
            "singularResource": "",
            "verbs": [],
            "subresources": [
                _subresource(each, group) for each in group.resources if each.of == parent
            ],
        }
        for parent in parents
    ]
    version = {"version": group.version, "resources": [*plain, *below], "freshness": "Current"}
    return {
        "metadata": {"name": group.name, "creationTimestamp": None},
        "versions": [version],
    }


def _resource(resource: Resource, group: Group) -> Mapping[str, Any]:
    return {
        "resource": resource.name,
        "responseKind": _kind(resource, group),
        "scope": "Namespaced",
        "singularResource": "",
        "verbs": _VERBS,
    }


def _subresource(resource: Resource, group: Group) -> Mapping[str, Any]:
    return {
        "subresource": resource.name,
        "responseKind": _kind(resource, group),
        "verbs": _VERBS,
    }


def _kind(resource: Resource, group: Group) -> Mapping[str, str]:
    return {"group": group.name, "version": group.version, "kind": resource.kind}
