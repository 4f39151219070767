"""NodeVolumeLimits: what is attached, what is new, and drivers that are not there."""

import pytest

from springtide.engine.framework.framework import Framework
from springtide.engine.placement.classes import Classifier
from springtide.engine.placement.tables import Tables
from springtide.engine.simulation.sanitise import TEMPLATE_LABEL
from springtide.model.ledger import Holding
from springtide.model.overlay import Overlay
from springtide.model.storage import CsiDriver, CsiNode
from springtide.model.volumes import DiskKind, DiskVolume
from tests.unit.engine.framework.asking import answers, ledger_of, resolvable, roomy, unresolvable
from tests.unit.engine.framework.storing import (
    DRIVER,
    bound,
    late_class,
    stored,
    using,
    volume,
    waiting,
)

RULE = "NodeVolumeLimits"
TOO_MANY = resolvable(RULE, "node(s) exceed max volume count")
MISSING = resolvable(RULE, f"{DRIVER} CSI driver is not installed on the node")
CLAIMS = [bound(name, f"pv-{name}") for name in "abc"]
VOLUMES = [volume(f"pv-{name}") for name in "abc"]


def limit(count: int | None) -> CsiNode:
    return CsiNode("node", ((DRIVER, count),))


@pytest.mark.parametrize(
    ("brought", "used", "count", "fits"),
    [
        (["a"], [], 1, True),
        (["a"], [], 0, False),
        (["a"], ["b"], 1, False),
        (["a"], ["a"], 1, True),
        (["a", "b"], ["c"], 2, False),
        (["a", "b"], ["b", "c"], 3, True),
        (["a"], ["b", "c"], None, True),
    ],
)
def test_each_volume_counts_once(
    brought: list[str], used: list[str], count: int | None, *, fits: bool
) -> None:
    running = [using(*used, name="running", on="node")]
    storage = stored(*CLAIMS, *VOLUMES, limit(count))

    found = answers(using(*brought), [roomy()], running, storage=storage)

    assert found == [None if fits else TOO_MANY]


def test_a_volume_known_from_an_attachment_alone_counts_as_attached_and_as_new() -> None:
    attached = {"node": ("pv-a",)}
    one = stored(*CLAIMS, *VOLUMES, limit(1), attached=attached)
    two = stored(*CLAIMS, *VOLUMES, limit(2), attached=attached)

    found = [answers(using("a"), [roomy()], storage=each) for each in (one, two)]

    assert found == [[TOO_MANY], [None]]


def test_a_volume_to_be_made_counts_for_its_driver() -> None:
    storage = stored(waiting("new"), late_class(), limit(0))

    assert answers(using("new"), [roomy()], storage=storage) == [TOO_MANY]


def test_a_volume_without_a_driver_does_not_count() -> None:
    storage = stored(bound("a", "pv-a"), volume("pv-a", driver=""), limit(0))

    assert answers(using("a"), [roomy()], storage=storage) == [None]


def test_a_node_without_csi_node_has_no_limit() -> None:
    storage = stored(*CLAIMS, *VOLUMES, CsiNode("other", ((DRIVER, 0),)))

    assert answers(using("a"), [roomy()], storage=storage) == [None]


def test_a_driver_that_must_be_installed_is_missed_except_on_new_nodes() -> None:
    needed = CsiDriver(name=DRIVER, must_be_installed=True)
    storage = stored(*CLAIMS, *VOLUMES, needed, CsiNode("with", ((DRIVER, None),)))
    nodes = [roomy("with"), roomy("without"), roomy("new", {TEMPLATE_LABEL: "true"})]

    assert answers(using("a"), nodes, storage=storage) == [None, MISSING, None]


def test_a_disk_that_a_driver_may_stand_in_for_is_not_counted() -> None:
    disk = DiskVolume(kind=DiskKind.GCE, name="d")

    assert answers(using(disk), [roomy()], storage=stored(limit(0))) == [None]


def test_a_claim_that_is_missing_is_told_before_binding_is_asked() -> None:
    (refusal,) = answers(using("gone"), [roomy()], storage=stored())

    assert refusal == unresolvable("VolumeRestrictions", 'persistentvolumeclaim "gone" not found')


def test_what_is_placed_and_taken_back_counts_at_once() -> None:
    storage = stored(*CLAIMS, *VOLUMES, limit(1))
    classifier, ledger = Classifier({}), ledger_of([roomy()])
    tables, overlay = Tables(ledger, Framework(storage=storage), {}), Overlay(ledger)
    pod_class = classifier.classify(using("a"))
    counts = [len(tables.candidates(pod_class))]

    with overlay.trial():
        overlay.hold(Holding(uid="other", row=0, claims=("default/b",)))
        counts.append(len(tables.candidates(pod_class)))
    counts.append(len(tables.candidates(pod_class)))

    assert counts == [1, 0, 1]
