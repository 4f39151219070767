"""Storage for tests: every builder takes only what a test is about, and makes up the rest."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from springtide.base import quantity
from springtide.base.selectors import NodeSelectorTerm
from springtide.model.pod import Pod, PodSpec
from springtide.model.storage import (
    WAIT_FOR_FIRST_CONSUMER,
    Claim,
    ClaimReference,
    CsiDriver,
    CsiNode,
    PersistentVolume,
    Storage,
    StorageCapacity,
    StorageClass,
)
from springtide.model.volumes import ClaimVolume, Volume
from tests.builders import term

DRIVER = "csi.example.com"
CLASS = "fast"


def using(*volumes: Volume | str, name: str = "pending", on: str = "") -> Pod:
    """Return a pod with these volumes; a text is the name of a claim."""
    named = tuple(ClaimVolume(each) if isinstance(each, str) else each for each in volumes)
    return Pod(namespace="default", name=name, uid=name, spec=PodSpec(volumes=named), node_name=on)


def bound(name: str, volume: str, *, modes: Sequence[str] = ()) -> Claim:
    """Return a claim that is bound to a volume."""
    return Claim(
        namespace="default",
        name=name,
        uid=name,
        class_name=CLASS,
        volume=volume,
        is_bound=True,
        access_modes=tuple(modes),
    )


def waiting(name: str, *, size: str = "5Gi", selected_node: str | None = None) -> Claim:
    """Return a claim that has no volume yet."""
    return Claim(
        namespace="default",
        name=name,
        uid=name,
        class_name=CLASS,
        requested=quantity.parse(size),
        access_modes=("ReadWriteOnce",),
        selected_node=selected_node,
    )


def volume(
    name: str,
    *,
    size: str = "10Gi",
    zone: str = "",
    labels: Mapping[str, str] | None = None,
    driver: str = DRIVER,
    reserved_for: str = "",
) -> PersistentVolume:
    """Return an available volume, in a zone if one is given."""
    terms: tuple[NodeSelectorTerm, ...] | None = (term("zone", "In", zone),) if zone else None
    return PersistentVolume(
        name=name,
        labels=labels or {},
        class_name=CLASS,
        capacity=quantity.parse(size),
        access_modes=("ReadWriteOnce",),
        phase="Available",
        node_terms=terms,
        driver=driver,
        handle=name if driver else "",
        claim=ClaimReference(namespace="default", name=reserved_for) if reserved_for else None,
    )


def late_class(*, provisioner: str = DRIVER, zones: Sequence[str] = ()) -> StorageClass:
    """Return a class whose claims wait for their first consumer."""
    return StorageClass(
        name=CLASS,
        provisioner=provisioner,
        binding_mode=WAIT_FOR_FIRST_CONSUMER,
        topologies=((("zone", tuple(zones)),),) if zones else (),
    )


def stored(
    *objects: Claim | PersistentVolume | StorageClass | CsiNode | CsiDriver | StorageCapacity,
    attached: Mapping[str, tuple[str, ...]] | None = None,
) -> Storage:
    """Return a storage of these objects."""
    return Storage(
        claims={each.key: each for each in objects if isinstance(each, Claim)},
        volumes={each.name: each for each in of_kind(objects, PersistentVolume)},
        classes={each.name: each for each in of_kind(objects, StorageClass)},
        csi_nodes={each.name: each for each in of_kind(objects, CsiNode)},
        drivers={each.name: each for each in of_kind(objects, CsiDriver)},
        capacities=tuple(of_kind(objects, StorageCapacity)),
        attached=attached or {},
    )


RecordT = TypeVar("RecordT")


def of_kind(objects: Iterable[object], kind: type[RecordT]) -> list[RecordT]:
    """Return the objects of one kind."""
    return [each for each in objects if isinstance(each, kind)]
