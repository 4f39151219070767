"""Our own documents of a whole input: the groups and the profiles that may be used.

A document that a person wrote is refused as a whole, because a plan without it would mislead. A
profile that is stored in the cluster is left out instead, and so are two profiles that promise
different devices for one node: an invalid profile is never used for a decision.
"""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, Final

from springtide.model.group import NodeGroup
from springtide.model.node import Node
from springtide.model.problem import Problem
from springtide.model.profile import DeviceProfile, describing, opposed
from springtide.wire import strict
from springtide.wire.crd import nodegroups, profile_schema, profiles
from springtide.wire.errors import InvalidDocument
from springtide.wire.origin import Origin

GROUP: Final = "springtide.io"
KINDS: Final = (nodegroups.KIND, profile_schema.KIND)


class Ours:
    """Groups and profiles by name, in the order of the input."""

    def __init__(self) -> None:
        self.groups: dict[str, NodeGroup] = {}
        self.profiles: dict[str, DeviceProfile] = {}
        self.problems: list[Problem] = []
        self.sources: dict[str, str] = {}

    def take(self, value: object, kind: str, origin: Origin) -> None:
        """Take one document, or raise InvalidDocument."""
        if kind == nodegroups.KIND:
            self._take_groups(value, origin)
        elif kind == profile_schema.KIND:
            self._take_profile(value, origin)
        else:
            known = strict.remedy(kind, list(KINDS))
            raise origin.fault(("kind",), f'"{kind}" is no kind of {GROUP}; {known}')

    def usable_profiles(
        self, nodes: Iterable[Node]
    ) -> tuple[tuple[DeviceProfile, ...], tuple[Problem, ...]]:
        """Return the profiles that no node sets against each other, and what is wrong with the rest."""
        everyone = tuple(self.profiles.values())
        templates = (each.template for each in self.groups.values() if each.template is not None)
        contrary: dict[str, Problem] = {}
        for node in chain(nodes, templates) if len(everyone) > 1 else ():
            _oppose(describing(everyone, node.labels), node, self.sources, contrary)
        usable = tuple(each for each in everyone if each.name not in contrary)
        return usable, (*contrary.values(), *self._dangling())

    def _take_groups(self, value: object, origin: Origin) -> None:
        for index, group in enumerate(nodegroups.read_node_groups(value, origin=origin)):
            if group.name in self.groups:
                reason = f'the name "{group.name}" is given twice; each group needs its own.'
                raise origin.fault(("groups", index, "name"), reason)
            self.groups[group.name] = group
            self.sources[f"NodeGroup/{group.name}"] = origin.label
            if group.size is not None and group.size > group.max_size:
                self._warn(
                    f"NodeGroup/{group.name}",
                    "size",
                    f"{group.size} nodes are more than maxSize, {group.max_size}; the group "
                    "cannot grow. Check both numbers.",
                )

    def _take_profile(self, value: object, origin: Origin) -> None:
        try:
            profile = profiles.read_device_profile(value, origin=origin)
            if profile.name in self.profiles:
                raise origin.fault(
                    ("metadata", "name"), f'"{profile.name}" is given twice; remove one of them.'
                )
        except InvalidDocument as fault:
            if not _is_stored(value):
                raise
            name = _named(value, origin)
            self.sources[name] = origin.label
            self._warn(name, fault.field, f"{fault.reason} The profile is left out.")
            return
        self.profiles[profile.name] = profile
        self.sources[f"DeviceProfile/{profile.name}"] = origin.label

    def _dangling(self) -> list[Problem]:
        return [
            Problem(
                source=self.sources[f"NodeGroup/{group.name}"],
                object=f"NodeGroup/{group.name}",
                field="profile",
                message=f'no profile in the input is called "{group.profile}"; '
                f"{strict.remedy(group.profile, list(self.profiles)) if self.profiles else 'add it.'}",
            )
            for group in self.groups.values()
            if group.profile and group.profile not in self.profiles
        ]

    def _warn(self, name: str, field: str, message: str) -> None:
        self.problems.append(
            Problem(source=self.sources[name], object=name, field=field, message=message)
        )


def _oppose(
    matching: Sequence[DeviceProfile],
    node: Node,
    sources: dict[str, str],
    found: dict[str, Problem],
) -> None:
    for profile, other in opposed(matching):
        name = f"DeviceProfile/{profile}"
        found.setdefault(
            profile,
            Problem(
                source=sources[name],
                object=name,
                field="spec.nodeSelector",
                message=f"it selects {node.name} as {other} does, with other devices; "
                "neither is used. Narrow one of the selectors.",
            ),
        )


def _named(value: Any, origin: Origin) -> str:
    """Return what to call a stored profile that cannot be read: its name, or where it stands."""
    name = value["metadata"].get("name")
    if isinstance(name, str) and name:
        return f"DeviceProfile/{name}"
    return f"DeviceProfile at {origin.place}" if origin.place else "DeviceProfile"


def _is_stored(value: object) -> bool:
    metadata = value.get("metadata") if isinstance(value, dict) else None
    return isinstance(metadata, dict) and bool(metadata.get("uid"))
