"""The changes to a pod as a JSON patch (RFC 6902): only what is to change is named.

So fields that nobody here knows stay as they are. A map that a value is to go into is made first where
the pod lacks it; setting a member that exists replaces it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec

from springtide.model.pod import Container, PodSpec
from springtide.model.resources import Resources
from springtide.wire.k8s.parts import plain

Operation: TypeAlias = Mapping[str, Any]
Step: TypeAlias = str | int


class Patch:
    """Collects the operations that change an object, beside what it is like after them."""

    def __init__(self, raw: bytes | msgspec.Raw) -> None:
        self._object: Any = plain(raw)
        self.operations: list[Operation] = []

    def set(self, path: Sequence[Step], value: object) -> None:
        """Set a member, and make the maps on the way to it."""
        at = self._object
        for depth, step in enumerate(path[:-1]):
            if not isinstance(step, int) and not isinstance(at.get(step), dict | list):
                at[step] = {}
                self._add(path[: depth + 1], {})
            at = at[step]
        at[path[-1]] = value
        self._add(path, value)

    def append(self, path: Sequence[Step], value: object) -> None:
        """Append to a list, and make it where there is none."""
        *above, last = path
        at = self._object
        for step in above:
            at = at[step]
        if not isinstance(at.get(last), list):
            at[last] = []
            self._add(path, [])
        at[last].append(value)
        self._add((*path, "-"), value)

    def remove(self, path: Sequence[Step]) -> None:
        """Remove a member, if it is there."""
        at = self._object
        for step in path[:-1]:
            at = at.get(step) if isinstance(at, dict) else None
        if isinstance(at, dict) and path[-1] in at:
            del at[path[-1]]
            self.operations.append({"op": "remove", "path": _pointer(path)})

    def _add(self, path: Sequence[Step], value: object) -> None:
        self.operations.append({"op": "add", "path": _pointer(path), "value": value})


def set_amounts(patch: Patch, *, before: PodSpec, after: PodSpec) -> None:
    """Set what containers ask for after admission and did not before."""
    for kind, old, new in (
        ("initContainers", before.init_containers, after.init_containers),
        ("containers", before.containers, after.containers),
    ):
        for index, (was, now) in enumerate(zip(old, new, strict=True)):
            for part, name, amount in _amounts(was, now):
                patch.set(("spec", kind, index, "resources", part, name), amount)


def add_environment(
    patch: Patch, spec: PodSpec, environment: Iterable[tuple[str, str, str]]
) -> None:
    """Append variables to containers, each by (container, name, value)."""
    places = {
        each.name: ("spec", kind, index)
        for kind, containers in (
            ("containers", spec.containers),
            ("initContainers", spec.init_containers),
        )
        for index, each in enumerate(containers)
    }
    for container, name, text in environment:
        patch.append((*places[container], "env"), {"name": name, "value": text})


def _amounts(was: Container, now: Container) -> Iterator[tuple[str, str, str]]:
    yield from (("limits", *each) for each in _differing(was.limits, now.limits))
    yield from (("requests", *each) for each in _differing(was.requests, now.requests))


def _differing(was: Resources, now: Resources) -> Iterator[tuple[str, str]]:
    known = dict(was)
    return ((name, str(amount)) for name, amount in now if known.get(name) != amount)


def _pointer(path: Sequence[Step]) -> str:
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in path)
