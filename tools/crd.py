"""Prints the definition of our stored documents, made from the records that read them.

`python tools/crd.py` prints that of device profiles, as `make crds` writes it to deploy/crds;
tools/tidy.py says if it is stale. What JSON Schema can say and an API server does not take (references,
titles, unions with null) is said otherwise here.
"""

import sys
from collections.abc import Mapping
from typing import Any, Final

import msgspec
import yaml

from springtide.apps.planner.families import FAMILIES
from springtide.wire.crd.profile_schema import KIND, ProfileSpec, ProfileStatusEntry
from springtide.wire.k8s.resources import OURS, RESOURCES

Schema = dict[str, Any]

VERSION: Final = "v1alpha1"
SHORT: Final = "dprof"
HEADER: Final = (
    "# Made by tools/crd.py from the records that read these documents: run `make crds`.\n"
)
_KEPT: Final = frozenset(
    {
        "type", "description", "enum", "items", "properties", "required", "additionalProperties",
        "default", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems",
        "maxProperties", "pattern", "format", "x-kubernetes-validations", "x-kubernetes-list-type",
        "x-kubernetes-list-map-keys",
    }
)  # fmt: skip
COLUMNS: Final = (
    ("Valid", "string", ".status.conditions[?(@.type=='Valid')].status", 0),
    ("Verified", "string", ".status.conditions[?(@.type=='Verified')].status", 0),
    ("Degraded", "string", ".status.conditions[?(@.type=='Degraded')].status", 0),
    ("Nodes", "integer", ".status.observedNodes", 0),
    ("Differ", "integer", ".status.mismatchedNodes", 0),
    ("On mismatch", "string", ".spec.onMismatch", 1),
    ("Why", "string", ".status.conditions[?(@.type=='Verified')].message", 1),
    ("Age", "date", ".metadata.creationTimestamp", 0),
)


def definition() -> Schema:
    """Returns the CustomResourceDefinition of device profiles."""
    resource = next(each for each in RESOURCES if (each.kind, each.group) == (KIND, OURS))
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": resource.name},
        "spec": {
            "group": OURS,
            "scope": "Cluster",
            "names": {
                "kind": KIND,
                "listKind": f"{KIND}List",
                "plural": resource.plural,
                "singular": KIND.lower(),
                "shortNames": [SHORT],
            },
            "versions": [
                {
                    "name": VERSION,
                    "served": True,
                    "storage": True,
                    "subresources": {"status": {}},
                    "additionalPrinterColumns": [
                        {"name": name, "type": kind, "jsonPath": path, "priority": priority}
                        for name, kind, path, priority in COLUMNS
                    ],
                    "schema": {"openAPIV3Schema": _document()},
                }
            ],
        },
    }


def _document() -> Schema:
    spec, status = _of(ProfileSpec), _of(ProfileStatusEntry)
    for part in (spec, status["properties"]["lastVerified"]):
        vendor = part["properties"]["devices"]["items"]["properties"]["vendor"]
        vendor["enum"] = sorted(FAMILIES)
    return {
        "type": "object",
        "description": "What the nodes of a group carry before any of them exists.",
        "required": ["spec"],
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
            "spec": spec,
            "status": status,
        },
    }


def _of(record: type[msgspec.Struct]) -> Schema:
    (made,), parts = msgspec.json.schema_components([record], ref_template="{name}")
    return _structural(made, parts)


def _structural(given: Schema, parts: Mapping[str, Schema]) -> Schema:
    """Returns the schema as an API server takes it: whole, and with a type at every step."""
    schema = _whole(given, parts)
    found: Schema = {key: schema[key] for key in schema if key in _KEPT}
    if "enum" in found:
        found["type"] = "string"
        found["enum"] = [each for each in found["enum"] if each is not None]
    if isinstance(schema.get("items"), dict):
        found["items"] = _structural(schema["items"], parts)
    if "properties" in schema:
        found["properties"] = {
            name: _structural(each, parts) for name, each in schema["properties"].items()
        }
        found.pop("additionalProperties", None)
    elif isinstance(schema.get("additionalProperties"), dict):
        found["additionalProperties"] = _structural(schema["additionalProperties"], parts)
    # Records stand for parts that are left out; what is stored says only what counts.
    if not found.get("default") or isinstance(found["default"], dict):
        found.pop("default", None)
    if not found.get("required"):
        found.pop("required", None)
    return found


def _whole(given: Schema, parts: Mapping[str, Schema]) -> Schema:
    """Returns the schema without references and without the choice of null."""
    schema = dict(given)
    choices = schema.pop("anyOf", None)
    if choices is not None:
        (only,) = [each for each in choices if each.get("type") != "null"]
        schema = {**only, **schema}
    if "$ref" in schema:
        part = parts[schema.pop("$ref")]
        schema = {**_whole(part, parts), **schema}
    return schema


def text() -> str:
    """Returns the document as it is committed."""
    return HEADER + yaml.safe_dump(
        definition(), sort_keys=False, allow_unicode=True, width=100, default_flow_style=False
    )


if __name__ == "__main__":
    sys.stdout.write(text())
