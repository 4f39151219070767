"""Workloads and their autoscalers as they are installed, as far as the lint of replicas reads them.

Unlike a plan's pods these are read one by one, with the place of each field, so that what is wrong
is told where it stands. What is not a StatefulSet, a Deployment or an autoscaler is passed over.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Generic, TypeVar

import msgspec

from springtide.wire import strict, yaml
from springtide.wire.k8s.parts import without_nulls
from springtide.wire.k8s.scaled_schema import Autoscaler, Workload
from springtide.wire.origin import Origin
from springtide.wire.source import Source
from springtide.wire.text import utf8

T = TypeVar("T")

WORKLOADS: Final = ("StatefulSet", "Deployment")
AUTOSCALER: Final = "HorizontalPodAutoscaler"
OBJECTS_MAX: Final = 10_000


class Placed(msgspec.Struct, Generic[T], frozen=True):
    """An object, and where it stands."""

    value: T
    origin: Origin


class Scaled(msgspec.Struct, frozen=True, kw_only=True):
    """All workloads and autoscalers of some files, in their order."""

    workloads: tuple[Placed[Workload], ...] = ()
    autoscalers: tuple[Placed[Autoscaler], ...] = ()


def read_scaled(sources: Sequence[Source]) -> Scaled:
    """Return what is scaled and what scales it, or raise a fault of the documents."""
    workloads: list[Placed[Workload]] = []
    autoscalers: list[Placed[Autoscaler]] = []
    for value, origin in _all_objects(sources):
        kind = value.get("kind")
        if kind in WORKLOADS:
            workloads.append(Placed(_read(value, Workload, origin), origin))
        elif kind == AUTOSCALER:
            autoscalers.append(Placed(_read(value, Autoscaler, origin), origin))
    return Scaled(workloads=tuple(workloads), autoscalers=tuple(autoscalers))


def _all_objects(sources: Sequence[Source]) -> Iterator[tuple[Mapping[str, Any], Origin]]:
    for source in sources:
        for document in yaml.documents(utf8(source.data), source.name):
            yield from _objects(document.value, Origin(source=source.name, document=document))


def _objects(value: object, origin: Origin) -> Iterator[tuple[Mapping[str, Any], Origin]]:
    """Return an object, or those of a list."""
    if not isinstance(value, dict):
        raise origin.fault((), "the document is not a map; a Kubernetes object is one.")
    items = value.get("items")
    if not str(value.get("kind", "")).endswith("List") or not isinstance(items, list):
        yield value, origin
        return
    if len(items) > OBJECTS_MAX:
        raise origin.fault(("items",), f"these are more than {OBJECTS_MAX} objects; take fewer.")
    kind = str(value["kind"]).removesuffix("List")
    for index, item in enumerate(items):
        if isinstance(item, dict):
            # The items of a StatefulSetList carry no kind of their own.
            yield {"kind": kind, **item}, origin.item(index)


def _read(value: Mapping[str, Any], of: type[T], origin: Origin) -> T:
    return strict.read(without_nulls(dict(value)), of, origin=origin)
