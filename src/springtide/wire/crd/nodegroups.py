"""NodeGroups documents: the groups that may be scaled, as a person describes them.

One document holds many groups. A group knows its nodes by a pattern of provider ids, by a node
selector, or by both; one without nodes is described by a template. Everything that cannot be is
refused with the name of the field.
"""

import re
from collections.abc import Mapping
from typing import Final, Literal

import msgspec

from springtide.base import quantity
from springtide.base.names import PODS
from springtide.base.taints import Taint
from springtide.model.group import NodeGroup
from springtide.model.node import Node
from springtide.model.profile import Homogeneity
from springtide.model.resources import Resources
from springtide.wire import strict
from springtide.wire.crd.selector import NodeSelector, to_selector
from springtide.wire.origin import Origin
from springtide.wire.validation import Key, Path

API_VERSION: Final = "springtide.io/v1alpha1"
KIND: Final = "NodeGroups"
PODS_DEFAULT: Final = "110"

_Effect = Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]
_Quantities = dict[str, str | int | float]


class _Strict(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A part of the document in which every field counts."""


class TaintEntry(_Strict, frozen=True, kw_only=True):
    """A taint of the template."""

    key: str
    value: str = ""
    effect: _Effect


class TemplateEntry(_Strict, frozen=True, kw_only=True):
    """What a new node of the group looks like."""

    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    taints: tuple[TaintEntry, ...] = ()
    capacity: _Quantities = {}
    allocatable: _Quantities = {}


class GroupEntry(_Strict, frozen=True, kw_only=True):
    """One group as written."""

    name: str
    provider_id_pattern: str = ""
    node_selector: NodeSelector | None = None
    min_size: int = 0
    max_size: int
    size: int | None = None
    price: float | None = None
    priority: int = 0
    homogeneity: Homogeneity | None = None
    profile: str = ""
    ignored_taints: tuple[str, ...] = ()
    zero_or_max: bool = False
    template: TemplateEntry | None = None


class NodeGroupsDocument(_Strict, frozen=True, kw_only=True):
    """The document as written; its metadata names it and decides nothing."""

    api_version: Literal["springtide.io/v1alpha1"]
    kind: Literal["NodeGroups"]
    metadata: dict[str, object] = {}
    groups: tuple[GroupEntry, ...]


def read_node_groups(value: object, *, origin: Origin) -> tuple[NodeGroup, ...]:
    """Return the groups of a document, or raise InvalidDocument for the first fault."""
    document = strict.read(value, NodeGroupsDocument, origin=origin)
    seen: set[str] = set()
    groups = []
    for index, entry in enumerate(document.groups):
        group = _Reading(entry, origin, ("groups", index)).group()
        if group.name in seen:
            reason = f'the name "{group.name}" is given twice; each group needs its own.'
            raise origin.fault(("groups", index, "name"), reason)
        seen.add(group.name)
        groups.append(group)
    return tuple(groups)


class _Reading:
    """One group on its way into the model."""

    __slots__ = ("_entry", "_origin", "_path")

    def __init__(self, entry: GroupEntry, origin: Origin, path: Path) -> None:
        self._entry = entry
        self._origin = origin
        self._path = path

    def group(self) -> NodeGroup:
        entry = self._entry
        self._check_name()
        self._check_sizes()
        self._check_pattern()
        if not entry.provider_id_pattern and entry.node_selector is None and not entry.template:
            self._refuse(
                (), "nothing says which nodes belong to it; add providerIdPattern or nodeSelector."
            )
        return NodeGroup(
            name=entry.name,
            provider_id_pattern=entry.provider_id_pattern,
            selector=to_selector(
                entry.node_selector, origin=self._origin, path=(*self._path, "nodeSelector")
            )
            if entry.node_selector is not None
            else None,
            min_size=entry.min_size,
            max_size=entry.max_size,
            size=entry.size,
            price=entry.price,
            priority=entry.priority,
            template=self._template(entry.template) if entry.template is not None else None,
            profile=entry.profile,
            homogeneity=entry.homogeneity or "",
            ignored_taints=entry.ignored_taints,
            is_zero_or_max=entry.zero_or_max,
        )

    def _refuse(self, field: Path, reason: str) -> None:
        raise self._origin.fault(self._path + field, reason)

    def _check_name(self) -> None:
        if not self._entry.name:
            self._refuse(("name",), "the name is empty; give the group one.")

    def _check_sizes(self) -> None:
        entry = self._entry
        sizes = {"minSize": entry.min_size, "maxSize": entry.max_size, "size": entry.size or 0}
        for field, size in sizes.items():
            if size < 0:
                self._refuse((field,), f"{size} is below 0; give a number from 0 on.")
        if entry.min_size > entry.max_size:
            reason = (
                f"{entry.min_size} is above maxSize, {entry.max_size}; lower it, or raise that."
            )
            self._refuse(("minSize",), reason)
        if entry.price is not None and entry.price < 0:
            self._refuse(("price",), f"{entry.price} is below 0; give what a node costs an hour.")

    def _check_pattern(self) -> None:
        try:
            re.compile(self._entry.provider_id_pattern)
        except re.error as fault:
            reason = f"this is not a regular expression: {fault}; correct it."
            self._refuse(("providerIdPattern",), reason)

    def _template(self, entry: TemplateEntry) -> Node:
        capacity = {PODS: PODS_DEFAULT, **entry.capacity}
        # Either one stands for the other where only one is given.
        allocatable = {**capacity, **entry.allocatable}
        return Node(
            name=f"template-{self._entry.name}",
            labels=entry.labels,
            annotations=entry.annotations,
            taints=tuple(
                Taint(key=each.key, value=each.value, effect=each.effect) for each in entry.taints
            ),
            capacity=self._resources({**allocatable, **entry.capacity}, "capacity"),
            allocatable=self._resources(allocatable, "allocatable"),
        )

    def _resources(self, read: Mapping[str, str | int | float], field: str) -> Resources:
        return tuple(
            sorted((name, self._quantity(each, field, name)) for name, each in read.items())
        )

    def _quantity(self, value: str | float, field: str, name: str) -> quantity.Quantity:
        try:
            found = quantity.from_json(value)
        except quantity.MalformedQuantity as fault:
            reason = f'"{fault.text}" is not a quantity; write one like 500m or 16Gi.'
            raise self._origin.fault((*self._path, "template", field, Key(name)), reason) from fault
        if found.nano < 0:
            reason = f"{found} is below 0; a node cannot have less than nothing."
            raise self._origin.fault((*self._path, "template", field, Key(name)), reason)
        return found
