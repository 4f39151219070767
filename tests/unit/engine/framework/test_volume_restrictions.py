"""VolumeRestrictions by the table of disks, and claims that one pod may use."""

import numpy as np
import pytest

from springtide.engine.framework.framework import Framework
from springtide.engine.placement.classes import Classifier
from springtide.engine.placement.placing import Placement, holding
from springtide.engine.placement.tables import Tables
from springtide.model.overlay import Overlay
from springtide.model.refusal import Refusal
from springtide.model.volumes import DiskKind, DiskVolume
from tests.unit.engine.framework.asking import (
    answers,
    ledger_of,
    resolvable,
    roomy,
    unresolvable,
)
from tests.unit.engine.framework.storing import bound, stored, using, volume

RULE = "VolumeRestrictions"
NO_DISK = resolvable(RULE, "node(s) had no available disk")
IN_USE = resolvable(
    RULE,
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode "
    "already in-use by another pod",
)
ONCE = stored(bound("data", "pv", modes=["ReadWriteOncePod"]), volume("pv"))
SHARED = stored(bound("data", "pv", modes=["ReadWriteMany"]), volume("pv"))


def disk(kind: DiskKind, name: str = "d", *, read_only: bool = False) -> DiskVolume:
    return DiskVolume(kind=kind, name=name, is_read_only=read_only)


def rbd(*monitors: str, pool: str = "rbd", read_only: bool = False) -> DiskVolume:
    return DiskVolume(
        kind=DiskKind.RBD, name="image", pool=pool, monitors=monitors, is_read_only=read_only
    )


@pytest.mark.parametrize(
    ("wanted", "used", "expected"),
    [
        (disk(DiskKind.GCE), disk(DiskKind.GCE), NO_DISK),
        (disk(DiskKind.GCE), disk(DiskKind.GCE, "other"), None),
        (disk(DiskKind.GCE), disk(DiskKind.GCE, read_only=True), NO_DISK),
        (disk(DiskKind.GCE, read_only=True), disk(DiskKind.GCE, read_only=True), None),
        (disk(DiskKind.AWS, read_only=True), disk(DiskKind.AWS, read_only=True), NO_DISK),
        (disk(DiskKind.ISCSI), disk(DiskKind.ISCSI), NO_DISK),
        (disk(DiskKind.ISCSI, read_only=True), disk(DiskKind.ISCSI, read_only=True), None),
        (disk(DiskKind.AZURE), disk(DiskKind.AZURE), None),
        (disk(DiskKind.GCE), disk(DiskKind.AWS), None),
        (rbd("a", "b"), rbd("b", "c"), NO_DISK),
        (rbd("a"), rbd("b"), None),
        (rbd("a"), rbd("a", pool="other"), None),
        (rbd("a", read_only=True), rbd("a", read_only=True), None),
    ],
)
def test_a_disk_has_one_writer_on_a_node(
    wanted: DiskVolume, used: DiskVolume, expected: Refusal | None
) -> None:
    running = using(used, name="running", on="node")

    assert answers(using(wanted), [roomy()], [running]) == [expected]


def test_another_node_is_free_to_use_the_disk() -> None:
    running = using(disk(DiskKind.GCE), name="running", on="a")

    found = answers(using(disk(DiskKind.GCE)), [roomy("a"), roomy("b")], [running])

    assert found == [NO_DISK, None]


def test_a_claim_for_one_pod_is_in_use_on_every_node() -> None:
    running = using("data", name="running", on="a")

    found = answers(using("data"), [roomy("a"), roomy("b")], [running], storage=ONCE)

    assert found == [IN_USE, IN_USE]


def test_any_other_claim_may_be_shared() -> None:
    running = using("data", name="running", on="node")

    assert answers(using("data"), [roomy()], [running], storage=SHARED) == [None]


def test_a_claim_that_is_missing_rejects_the_pod() -> None:
    missing = unresolvable(RULE, 'persistentvolumeclaim "data" not found')

    assert answers(using("data"), [roomy()], storage=stored()) == [missing]


def test_without_storage_no_claim_is_looked_at() -> None:
    assert answers(using("data"), [roomy()]) == [None]


def test_a_placement_takes_the_claim_everywhere_until_it_is_reverted() -> None:
    classifier, ledger = Classifier({}), ledger_of([roomy("a"), roomy("b")])
    tables, overlay = Tables(ledger, Framework(storage=ONCE), {}), Overlay(ledger)
    pod_class = classifier.classify(using("data"))
    before = tables.candidates(pod_class)

    with overlay.trial():
        placement = tables.place(pod_class, 0)
        assert isinstance(placement, Placement)
        overlay.hold(holding("first", pod_class, placement))
        within = tables.candidates(pod_class)
        ledger.check()

    assert np.array_equal(before, [0, 1])
    assert not len(within)
    assert np.array_equal(tables.candidates(pod_class), [0, 1])
    ledger.check()
