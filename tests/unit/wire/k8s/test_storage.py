"""Storage objects as model records."""

import json
from typing import Any

import pytest

from springtide.base import quantity
from springtide.base.selectors import label_selector
from springtide.model.pod import Owner
from springtide.model.storage import (
    Claim,
    ClaimReference,
    CsiDriver,
    CsiNode,
    PersistentVolume,
    Storage,
    StorageCapacity,
    StorageClass,
)
from springtide.wire.documents import Input, decode
from springtide.wire.source import Source
from tests.builders import term

VERSIONS = {"PersistentVolumeClaim": "v1", "PersistentVolume": "v1"}


def made(kind: str, name: str = "x", **fields: Any) -> dict[str, Any]:
    metadata = {"name": name, **fields.pop("metadata", {})}
    version = VERSIONS.get(kind, "storage.k8s.io/v1")
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **fields}


def read(*objects: dict[str, Any]) -> Input:
    listed = {"kind": "List", "apiVersion": "v1", "items": list(objects)}
    return decode([Source("in.json", json.dumps(listed).encode())])


def storage(*objects: dict[str, Any]) -> Storage:
    found = read(*objects)
    assert found.problems == ()
    return found.storage


def test_a_bound_claim_is_read() -> None:
    claim = made(
        "PersistentVolumeClaim",
        metadata={
            "namespace": "team",
            "uid": "u",
            "annotations": {"pv.kubernetes.io/bind-completed": "yes"},
            "ownerReferences": [{"kind": "Pod", "name": "p", "uid": "pu", "controller": True}],
        },
        spec={
            "accessModes": ["ReadWriteOncePod"],
            "resources": {"requests": {"storage": "5Gi"}},
            "selector": {"matchLabels": {"tier": "gold"}},
            "storageClassName": "fast",
            "volumeMode": "Block",
            "volumeName": "pv",
        },
        status={"phase": "Bound"},
    )

    assert storage(claim).claims == {
        "team/x": Claim(
            namespace="team",
            name="x",
            uid="u",
            class_name="fast",
            volume="pv",
            is_bound=True,
            access_modes=("ReadWriteOncePod",),
            mode="Block",
            requested=quantity.parse("5Gi"),
            selector=label_selector({"tier": "gold"}),
            phase="Bound",
            owner=Owner(kind="Pod", name="p", uid="pu"),
        )
    }


def test_an_annotation_may_name_the_class_and_the_node() -> None:
    notes = {
        "volume.beta.kubernetes.io/storage-class": "old",
        "volume.kubernetes.io/selected-node": "n1",
    }

    claim = storage(made("PersistentVolumeClaim", metadata={"annotations": notes})).claims[
        "default/x"
    ]

    assert (claim.class_name, claim.selected_node, claim.is_bound) == ("old", "n1", False)


def test_a_volume_is_read() -> None:
    expression = {"key": "zone", "operator": "In", "values": ["a"]}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    volume = made(
        "PersistentVolume",
        metadata={"labels": {"tier": "gold"}, "deletionTimestamp": "2026-11-30T00:00:00Z"},
        spec={
            "accessModes": ["ReadWriteOnce"],
            "capacity": {"storage": "10Gi"},
            "claimRef": {"namespace": "team", "name": "c", "uid": "u"},
            "csi": {"driver": "d", "volumeHandle": "h"},
            "nodeAffinity": {"required": terms},
            "storageClassName": "fast",
        },
        status={"phase": "Released"},
    )

    assert storage(volume).volumes == {
        "x": PersistentVolume(
            name="x",
            labels={"tier": "gold"},
            class_name="fast",
            capacity=quantity.parse("10Gi"),
            access_modes=("ReadWriteOnce",),
            phase="Released",
            is_terminating=True,
            claim=ClaimReference(namespace="team", name="c", uid="u"),
            node_terms=(term("zone", "In", "a"),),
            driver="d",
            handle="h",
        )
    }


def test_classes_and_drivers_are_read() -> None:
    zones = [{"matchLabelExpressions": [{"key": "zone", "values": ["a", "b"]}]}]
    found = storage(
        made(
            "StorageClass",
            provisioner="d",
            volumeBindingMode="WaitForFirstConsumer",
            allowedTopologies=zones,
        ),
        made("CSIDriver", spec={"storageCapacity": True, "preventPodSchedulingIfMissing": True}),
        made("CSINode", spec={"drivers": [{"name": "d", "allocatable": {"count": 3}}]}),
        made("CSINode", "empty", spec={"drivers": None}),
    )

    assert found.classes["x"] == StorageClass(
        name="x",
        provisioner="d",
        binding_mode="WaitForFirstConsumer",
        topologies=((("zone", ("a", "b")),),),
    )
    assert found.drivers["x"] == CsiDriver(name="x", reports_capacity=True, must_be_installed=True)
    assert found.csi_nodes == {"x": CsiNode("x", (("d", 3),)), "empty": CsiNode("empty")}


def test_capacities_and_attachments_are_read() -> None:
    found = storage(
        made(
            "CSIStorageCapacity",
            storageClassName="fast",
            capacity="10Gi",
            maximumVolumeSize="2Gi",
            nodeTopology={"matchLabels": {"zone": "a"}},
        ),
        made("VolumeAttachment", spec={"nodeName": "n", "source": {"persistentVolumeName": "pv"}}),
        made("VolumeAttachment", "inline", spec={"nodeName": "n", "source": {}}),
    )

    assert found.capacities == (
        StorageCapacity(
            namespace="default",
            name="x",
            class_name="fast",
            capacity=quantity.parse("10Gi"),
            volume_max=quantity.parse("2Gi"),
            nodes=label_selector({"zone": "a"}),
        ),
    )
    assert found.attached == {"n": ("pv",)}


@pytest.mark.parametrize(
    ("broken", "name", "field"),
    [
        (
            made("PersistentVolume", spec={"capacity": {"storage": "many"}}),
            "PersistentVolume/x",
            'spec.capacity["storage"]',
        ),
        (
            made("CSIStorageCapacity", capacity="many"),
            "CSIStorageCapacity/default/x",
            "capacity",
        ),
        (made("StorageClass", ""), "StorageClass at items[0]", "metadata.name"),
    ],
)
def test_a_broken_object_is_left_out_and_told(
    broken: dict[str, Any], name: str, field: str
) -> None:
    found = read(broken)

    assert [(each.object, each.field) for each in found.problems] == [(name, field)]
    assert found.storage == Storage()


def test_the_first_of_two_objects_of_one_name_counts() -> None:
    found = read(made("StorageClass", provisioner="a"), made("StorageClass", provisioner="b"))

    assert found.storage.classes["x"].provisioner == "a"
    assert [each.object for each in found.problems] == ["StorageClass/x"]
