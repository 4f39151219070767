"""Objects as an API server keeps them: versions, preconditions, subresources, and a log of changes.

What it refuses it raises with the code, reason and words of the real one. It does no I/O.
"""

import copy
import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

Object = dict[str, Any]
Place = tuple[str, str]
"""The group and the plural of a kind."""

NAME = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?")

KINDS: Mapping[Place, str] = {
    ("", "nodes"): "Node",
    ("", "pods"): "Pod",
    ("", "resourcequotas"): "ResourceQuota",
    ("", "events"): "Event",
    ("", "configmaps"): "ConfigMap",
    ("apps", "deployments"): "Deployment",
    ("apps", "statefulsets"): "StatefulSet",
    ("coordination.k8s.io", "leases"): "Lease",
    ("springtide.io", "deviceprofiles"): "DeviceProfile",
}


class Refused(Exception):
    """What the store does not do."""

    def __init__(
        self, code: int, reason: str, message: str, *, cause: str = "", field: str = ""
    ) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.cause = cause
        self.field = field


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One change: the object before and after, None where there is none."""

    version: int
    place: Place
    before: Object | None
    after: Object | None


class ObjectStore:
    """All objects by kind, namespace and name."""

    def __init__(self) -> None:
        self.version = 100
        self.objects: dict[Place, dict[tuple[str, str], Object]] = {each: {} for each in KINDS}
        self.log: list[Entry] = []
        self.compacted = 0
        self.protected: set[str] = set()
        self.heard: list[Callable[[Entry], None]] = []
        self._uids = 0

    def listed(self, place: Place) -> list[Object]:
        """Return the objects of a kind, by namespace and name."""
        return [each for _, each in sorted(self.objects[place].items())]

    def read(self, place: Place, namespace: str, name: str) -> Object:
        """Return one object."""
        found = self.objects[place].get((namespace, name))
        if found is None:
            raise Refused(404, "NotFound", f'{place[1]} "{name}" not found')
        return found

    def create(self, place: Place, namespace: str, given: Object) -> Object:
        """Create an object."""
        made = copy.deepcopy(given)
        metadata = made.setdefault("metadata", {})
        name = metadata["name"]
        if not NAME.fullmatch(name):
            message = f'{place[1]} "{name}" is invalid: metadata.name: Invalid value: "{name}"'
            raise Refused(422, "Invalid", message)
        if (namespace, name) in self.objects[place]:
            raise Refused(409, "AlreadyExists", f'{place[1]} "{name}" already exists')
        self._uids += 1
        metadata.setdefault("uid", f"uid-{self._uids}")
        if namespace:
            metadata["namespace"] = namespace
        return self._put(place, None, made)

    def replace(self, place: Place, namespace: str, given: Object) -> Object:
        """Write a whole object."""
        before = self.read(place, namespace, given["metadata"]["name"])
        self._match(place, before, given["metadata"])
        return self._put(place, before, {**before, **copy.deepcopy(given)})

    def merge(self, place: Place, namespace: str, name: str, patch: Object) -> Object:
        """Merge a patch into an object."""
        before = self.read(place, namespace, name)
        said = patch.get("metadata", {})
        if said.get("uid", before["metadata"]["uid"]) != before["metadata"]["uid"]:
            message = f'{place[1]} "{name}" is invalid: metadata.uid: field is immutable'
            raise Refused(422, "Invalid", message, field="metadata.uid")
        self._match(place, before, said)
        return self._put(place, before, _merged(before, patch))

    def delete(
        self, place: Place, namespace: str, name: str, conditions: Mapping[str, str]
    ) -> Object:
        """Delete an object at once."""
        before = self.read(place, namespace, name)
        self._match(place, before, conditions)
        self._note(place, before, None)
        del self.objects[place][namespace, name]
        return before

    def bind(self, namespace: str, name: str, binding: Object) -> None:
        """Give a pod its node."""
        place = ("", "pods")
        before = self.read(place, namespace, name)
        self._match(place, before, binding["metadata"])
        if node := before.get("spec", {}).get("nodeName"):
            raise Refused(409, "Conflict", f"pod {name} is already assigned to node {node}")
        self._put(place, before, _merged(before, {"spec": {"nodeName": binding["target"]["name"]}}))

    def evict(self, namespace: str, name: str, conditions: Mapping[str, str]) -> None:
        """End a pod, unless it is protected."""
        self.read(("", "pods"), namespace, name)
        if name in self.protected:
            message = "Cannot evict pod as it would violate the pod's disruption budget."
            raise Refused(429, "TooManyRequests", message, cause="DisruptionBudget")
        self.delete(("", "pods"), namespace, name, conditions)

    def forget(self) -> None:
        """Forget how everything came about."""
        self.compacted = self.version
        self.log.clear()

    def restore(self, version: int) -> None:
        """Go back to a version of long ago, as from a backup; the objects stay as they are."""
        self.version = version
        self.log.clear()

    def since(self, place: Place, version: int) -> list[Entry]:
        """Return what changed after a version."""
        if version < self.compacted:
            raise Refused(410, "Expired", f"too old resource version: {version}")
        return [each for each in self.log if each.place == place and each.version > version]

    def _match(self, place: Place, before: Object, conditions: Mapping[str, Any]) -> None:
        metadata = before["metadata"]
        for field in ("uid", "resourceVersion"):
            wanted = conditions.get(field)
            if wanted and wanted != metadata[field]:
                words = f"{place[1]} {metadata['name']}: the {field} is {metadata[field]}"
                raise Refused(409, "Conflict", words)

    def _put(self, place: Place, before: Object | None, after: Object) -> Object:
        metadata = after["metadata"]
        identity = before["metadata"]["uid"] if before else metadata["uid"]
        made = {
            **after,
            "metadata": {
                **metadata,
                "uid": identity,
                "resourceVersion": str(self.version + 1),
            },
        }
        self.objects[place][metadata.get("namespace", ""), metadata["name"]] = made
        self._note(place, before, made)
        return made

    def _note(self, place: Place, before: Object | None, after: Object | None) -> None:
        self.version += 1
        entry = Entry(version=self.version, place=place, before=before, after=after)
        self.log.append(entry)
        for each in self.heard:
            each(entry)


def matches(labels: str, fields: str, each: Object | None) -> bool:
    """Return whether selectors of the form `a=b,c!=d` choose an object; only fields have `!=`."""
    if each is None:
        return False
    said = each["metadata"].get("labels", {})
    return all(said.get(key) == value for key, value in _pairs(labels)) and all(
        ((_field(each, key.removesuffix("!")) or "") == value) != key.endswith("!")
        for key, value in _pairs(fields)
    )


def _pairs(selector: str) -> list[tuple[str, str]]:
    return [
        (key, value)
        for key, _, value in (part.partition("=") for part in selector.split(",") if part)
    ]


def _field(each: Object, path: str) -> Any:
    value: Any = each
    for key in path.split("."):
        value = value.get(key, {})
    return value


def _merged(before: Object, patch: Mapping[str, Any]) -> Object:
    merged = dict(before)
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        elif isinstance(value, Mapping):
            inner = merged.get(key)
            merged[key] = _merged(inner if isinstance(inner, dict) else {}, value)
        else:
            merged[key] = value
    return merged
